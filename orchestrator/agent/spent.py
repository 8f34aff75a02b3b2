"""What the work has cost so far, held against its limits."""

import time
from dataclasses import dataclass

from orchestrator.events import Stop
from orchestrator.pricing import Usage
from orchestrator.task import Limits


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums over all answers so far."""

    until: float
    """`time.monotonic()` at which the time is up."""
    input_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None as soon as one answer's price is unknown."""

    def plus(self, usage: Usage, cost: float | None) -> "Spent":
        """The sums with one more answer."""
        total = None if self.cost is None or cost is None else self.cost + cost
        return Spent(self.until, self.input_tokens + usage.input_tokens, total)

    def over(self, limits: Limits) -> Stop | None:
        """The first limit that is used up; an unknown cost exceeds none."""
        if time.monotonic() >= self.until:
            return "time"
        if self.input_tokens >= limits.input_tokens:
            return "input_tokens"
        if self.cost is not None and limits.cost is not None and self.cost >= limits.cost:
            return "cost"
        return None
