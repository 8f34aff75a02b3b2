"""What the work has cost so far, held against its limits."""

import time
from dataclasses import dataclass, replace

from orchestrator.outcome import Stop
from orchestrator.task import Limits


@dataclass(slots=True)
class Spent:
    """Sums over all answers so far, also of those to whom a part of the work was delegated."""

    limits: Limits
    until: float
    """`time.monotonic()` at which the time is up."""
    answers: int = 0
    input_tokens: int = 0
    known: float = 0.0
    """US dollars of the answers whose price is known; the others exceed no limit."""
    priced: bool = True
    """Whether the price of all is known."""

    @classmethod
    def within(cls, limits: Limits) -> "Spent":
        """Nothing yet; the time begins now."""
        return cls(limits, time.monotonic() + limits.seconds)

    @property
    def cost(self) -> float | None:
        """US dollars of all; None when any price is unknown."""
        return self.known if self.priced else None

    def count(
        self, input_tokens: int, cost: float | None, answers: int = 1, known: float = 0.0
    ) -> None:
        """Add what one answer has used, or several together.

        `known` is what is known of their cost where all of it is not.
        """
        self.answers += answers
        self.input_tokens += input_tokens
        self.known += known if cost is None else cost
        self.priced = self.priced and cost is not None

    def over(self) -> Stop | None:
        """The first limit that is used up; that of turns is no reason not to act on an answer."""
        limits = self.limits
        if time.monotonic() >= self.until:
            return "time"
        if self.input_tokens >= limits.input_tokens:
            return "input_tokens"
        if limits.cost is not None and self.known >= limits.cost:
            return "cost"
        return None

    def left(self) -> Limits:
        """What remains, none of it below 0."""
        limits = self.limits
        return replace(
            limits,
            turns=max(0, limits.turns - self.answers),
            input_tokens=max(0, limits.input_tokens - self.input_tokens),
            cost=None if limits.cost is None else max(0.0, limits.cost - self.known),
            seconds=max(0.0, self.until - time.monotonic()),
        )
