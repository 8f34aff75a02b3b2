"""What a run may spend on models, and what it spent; bound before each request and within it."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.gateway.usage import NOTHING, Usage

Price = Callable[[str, Usage], float | None]
"""US dollars of an answer of `provider:model`; None when unknown."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of all requests together; None: not bound."""

    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """US dollars. Answers whose price is unknown do not count: bind tokens, too."""
    seconds: float | None = None
    """From the opening of the ledger."""


@dataclass(frozen=True, slots=True)
class Used:
    """What was used so far, running requests included."""

    requests: int = 0
    """That went to a provider."""
    refused: int = 0
    """That did not, whatever the reason."""
    usage: Usage = NOTHING
    cost: float | None = 0.0
    """US dollars; None when the price of any answer is unknown."""
    estimated: int = 0
    """Of how many ended requests the provider gave no whole count: theirs are estimates."""
    limited: bool = False
    """Whether the provider's last answer was that its rate or usage limit is reached."""
    until: float | None = None
    """Unix time at which it said that limit ends, where it said one."""


@dataclass(slots=True)
class Entry:
    """One request that runs or ran."""

    model: str
    usage: Usage = NOTHING
    estimated: bool = False
    cost: float | None = None


class Ledger:
    """Counts what all requests of a run use. Safe in any thread."""

    def __init__(
        self,
        budget: Budget,
        price: Price,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._budget = budget
        self._price = price
        self._clock = clock
        self._begun = clock()
        self._lock = threading.Lock()
        self._running: list[Entry] = []
        self._done = Used()
        self._known = 0.0
        """Dollars of all ended answers whose price is known."""

    def enter(self, model: str) -> Entry:
        """Begin to count one request."""
        entry = Entry(model)
        with self._lock:
            self._running.append(entry)
        return entry

    def count(self, entry: Entry, usage: Usage) -> None:
        """What a running request used so far."""
        with self._lock:
            if usage != entry.usage:
                entry.usage = usage
                if self._budget.cost is not None:
                    entry.cost = self._price(entry.model, usage)

    def leave(self, entry: Entry, usage: Usage, *, estimated: bool) -> float | None:
        """The request is over: its final count. Gives its cost, None when unknown."""
        entry.usage, entry.estimated = usage, estimated
        entry.cost = 0.0 if usage == NOTHING else self._price(entry.model, usage)
        with self._lock:
            self._running.remove(entry)
            self._done = _plus(self._done, entry)
            self._known += entry.cost or 0.0
        return entry.cost

    def refuse(self) -> None:
        """Count a request that was not let out."""
        with self._lock:
            self._done = replace(self._done, refused=self._done.refused + 1)

    def limit(self, limited: bool, until: float | None = None) -> None:
        """Whether the provider's last answer was a limit, and until when."""
        with self._lock:
            self._done = replace(self._done, limited=limited, until=until)

    def used(self) -> Used:
        """What was used so far."""
        with self._lock:
            total = self._done
            for entry in self._running:
                cost = self._price(entry.model, entry.usage)
                total = _plus(total, Entry(entry.model, entry.usage, False, cost))
            return total

    def left(self) -> float | None:
        """Seconds that are left; None: not bound."""
        if self._budget.seconds is None:
            return None
        return max(0.0, self._begun + self._budget.seconds - self._clock())

    def spent(self, *, before: bool) -> str | None:
        """Which bound is reached, in a sentence.

        `before` a request all that is used up counts; within one, only what is passed.
        """
        with self._lock:
            counts = self._counts()
        for bound, allowed, used in counts:
            if allowed is not None and (used > allowed or (before and used >= allowed)):
                return f"The run's budget of {allowed} {bound} is used up."
        return None

    def _counts(self) -> tuple[tuple[str, float | None, float], ...]:
        budget, usage, running = self._budget, self._done.usage, self._running
        input_tokens = usage.input_tokens + sum(entry.usage.input_tokens for entry in running)
        output_tokens = usage.output_tokens + sum(entry.usage.output_tokens for entry in running)
        return (
            ("requests", budget.requests, self._done.requests + len(running)),
            ("input tokens", budget.input_tokens, input_tokens),
            ("output tokens", budget.output_tokens, output_tokens),
            ("US dollars", budget.cost, self._known + sum(entry.cost or 0.0 for entry in running)),
            ("seconds", budget.seconds, self._clock() - self._begun),
        )


def _plus(used: Used, entry: Entry) -> Used:
    return replace(
        used,
        requests=used.requests + 1,
        usage=used.usage + entry.usage,
        cost=None if used.cost is None or entry.cost is None else used.cost + entry.cost,
        estimated=used.estimated + entry.estimated,
    )
