"""What a delegate may ask of models, by the gateway: its token, its budget, what it used."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestrator import pricing
from orchestrator.models.access import Access, Traffic
from orchestrator.models.failure import unconnected
from orchestrator.models.retry import MAX_DELAY
from orchestrator.pricing import Usage
from orchestrator.task import Task
from sandbox.gateway.asked import Asked
from sandbox.gateway.budget import Budget, Ledger, Spent, Used
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider, Waiting
from sandbox.gateway.routes import Route
from sandbox.gateway.turn import Answered

Heard = Asked | Answered | Waiting
"""What the gateway tells while it works."""


def _alone(heard: Heard) -> None:
    """Nobody listens, and so nobody would let an answer in."""
    if isinstance(heard, Asked):
        heard.let_in()


@dataclass(slots=True)
class Account:
    """The door to models for one run; what happens there is told to whoever listens."""

    token: str
    ledger: Ledger
    door: Models = field(init=False)
    routes: Sequence[Route] = ()
    listener: Callable[[Heard], None] = _alone

    @classmethod
    def open(
        cls, task: Task, routes: Sequence[Route], traffic: Traffic, answers: int | None = None
    ) -> "Account":
        """An account with the task's limits, and with so many answers where that is given.

        A limit of the provider's rate is waited for as long as the agent waits for one.
        """
        limits = task.limits
        budget = Budget(
            answers=answers,
            input_tokens=limits.input_tokens,
            cost=limits.cost,
            seconds=limits.seconds,
        )
        account = cls(f"run-{secrets.token_hex(24)}", Ledger(budget, _price), routes=routes)
        provider = Provider(patience=MAX_DELAY, on_wait=account._heard)
        upstream = traffic.upstream(provider, account.token)
        heard = account._heard
        account.door = Models(routes, account.token, upstream, account.ledger, heard, heard)
        return account

    def used(self) -> Used:
        """What was used so far."""
        return self.ledger.used()

    def over(self) -> Spent | None:
        """The budget that is used up, if one is."""
        return self.ledger.over()

    def unconnected(self, answer: Answered) -> str:
        """That its question found no server, in a sentence; empty when it may have."""
        provider, _, model = answer.model.partition(":")
        for route in self.routes:
            if not answer.sent and (route.provider or route.api) == provider:
                access = Access(provider, model, route.base_url, route.key, variable="")
                return unconnected(access, answer.cut)
        return ""

    def _heard(self, heard: Heard) -> None:
        self.listener(heard)


def _price(model: str, usage: Usage) -> float | None:
    return pricing.cost(model, usage)
