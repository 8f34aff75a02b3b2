"""What a delegate may ask of models, by the gateway: its token, its budget, what it used."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from orchestrator import pricing
from orchestrator.models.access import Traffic
from orchestrator.pricing import Usage
from orchestrator.task import Task
from sandbox.gateway.budget import Budget, Ledger, Used
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.routes import Route
from sandbox.gateway.turn import Answered


@dataclass(slots=True)
class Account:
    """The door to models for one run; answers are told to whoever listens."""

    token: str
    ledger: Ledger
    door: Models = field(init=False)
    listener: Callable[[Answered], None] = lambda answered: None

    @classmethod
    def open(cls, task: Task, route: Route, traffic: Traffic) -> "Account":
        """An account with the task's limits."""
        limits = task.limits
        budget = Budget(input_tokens=limits.input_tokens, cost=limits.cost, seconds=limits.seconds)
        account = cls(f"run-{secrets.token_hex(24)}", Ledger(budget, _price))
        upstream = traffic.upstream(Provider(), account.token)
        account.door = Models([route], account.token, upstream, account.ledger, account._heard)
        return account

    def used(self) -> Used:
        """What was used so far."""
        return self.ledger.used()

    def _heard(self, answered: Answered) -> None:
        self.listener(answered)


def _price(model: str, usage: Usage) -> float | None:
    return pricing.cost(model, usage)
