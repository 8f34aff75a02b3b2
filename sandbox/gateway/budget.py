"""What a run may spend on models, and what it spent; bound before each request and within it."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sandbox.gateway.usage import NOTHING, Usage

Price = Callable[[str, Usage], float | None]
"""US dollars of an answer of `provider:model`; None when unknown."""


Bound = Literal["requests", "answers", "input_tokens", "output_tokens", "cost", "seconds"]
"""The names of the budgets."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of all requests together; None: not bound."""

    requests: int | None = None
    answers: int | None = None
    """Of requests that no model answered, none counts."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """US dollars. Answers whose price is unknown do not count: bind tokens, too."""
    seconds: float | None = None
    """From the opening of the ledger."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget that is used up; as text it is a sentence."""

    bound: Bound
    allowed: float | None

    def __str__(self) -> str:
        return (
            f"The run's budget of {self.allowed} {_UNITS.get(self.bound, self.bound)} is used up."
        )


_UNITS: dict[Bound, str] = {
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "cost": "US dollars",
}


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
    held: int = 0
    """Tokens of output that it may use while it runs, for nothing can cut it."""
    most: float | None = None
    """Its cost if it uses them all."""


@dataclass(frozen=True, slots=True)
class Room:
    """What the budgets leave for the output of one more answer."""

    tokens: float
    """Whole, or infinite where nothing binds."""
    spent: Spent
    """What there is to say when it is too little: of the tightest budget."""
    shared: bool
    """Whether running answers hold a part, of which some may come back."""


@dataclass(frozen=True, slots=True)
class _Count:
    """One budget, and what counts against it."""

    bound: Bound
    allowed: float | None
    used: float

    @property
    def left(self) -> float:
        return math.inf if self.allowed is None else self.allowed - self.used

    @property
    def spent(self) -> Spent:
        return Spent(self.bound, self.allowed)


_MANY = Usage(0, 1_000_000)
"""Enough output to learn a price by."""


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
        self._answers = 0
        self._refused_for: Spent | None = None

    def enter(self, model: str, held: int = 0) -> Entry:
        """Begin to count one request, and hold so many tokens of output until its end."""
        entry = Entry(model, held=held)
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
                    entry.most = self._price(entry.model, _at_most(entry))

    def leave(self, entry: Entry, usage: Usage, *, estimated: bool) -> float | None:
        """The request is over: its final count. Gives its cost, None when unknown."""
        entry.usage, entry.estimated = usage, estimated
        entry.cost = 0.0 if usage == NOTHING else self._price(entry.model, usage)
        with self._lock:
            self._running.remove(entry)
            self._done = _plus(self._done, entry)
            self._known += entry.cost or 0.0
            self._answers += usage != NOTHING
        return entry.cost

    def refuse(self, spent: Spent | None = None) -> None:
        """Count a request that was not let out, for a budget's sake or another reason."""
        with self._lock:
            self._done = replace(self._done, refused=self._done.refused + 1)
            self._refused_for = spent or self._refused_for

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

    def over(self) -> Spent | None:
        """The bound that is reached, or that left too little for a request that was refused."""
        return self.spent(before=True) or self._refused_for

    def spent(self, *, before: bool, held: bool = False) -> Spent | None:
        """Which bound is reached.

        `before` a request all that is used up counts; within one, only what is passed. What running
        answers have `held` counts as used where that is asked.
        """
        with self._lock:
            counts = self._counts(held=held)
        for count in counts:
            if count.left < 0 or (before and count.left <= 0):
                return count.spent
        return None

    def room(self, model: str, asked: Usage) -> Room:
        """How much one more answer may write, its question being `asked`.

        An unknown price binds no tokens.
        """
        with self._lock:
            counts = {count.bound: count for count in self._counts(held=True)}
            shared = any(entry.held for entry in self._running)
        output, cost = counts["output_tokens"], counts["cost"]
        room = Room(output.left, output.spent, shared)
        nothing, many = self._price(model, asked), self._price(model, asked + _MANY)
        if cost.allowed is None or nothing is None or many is None or many <= nothing:
            return room
        tokens = (cost.left - nothing) / (many - nothing) * _MANY.output_tokens
        return room if room.tokens <= tokens else Room(math.floor(tokens), cost.spent, shared)

    def _counts(self, *, held: bool) -> tuple[_Count, ...]:
        budget, done, running = self._budget, self._done, self._running
        used = sum((_at_most(entry) if held else entry.usage for entry in running), done.usage)
        costs = (entry.most if held else entry.cost for entry in running)
        return (
            _Count("requests", budget.requests, done.requests + len(running)),
            _Count("answers", budget.answers, self._answers + len(running)),
            _Count("input_tokens", budget.input_tokens, used.input_tokens),
            _Count("output_tokens", budget.output_tokens, used.output_tokens),
            _Count("cost", budget.cost, self._known + sum(cost or 0.0 for cost in costs)),
            _Count("seconds", budget.seconds, self._clock() - self._begun),
        )


def _at_most(entry: Entry) -> Usage:
    """What a running answer may have used at its end, as far as that is bound."""
    return replace(entry.usage, output_tokens=max(entry.held, entry.usage.output_tokens))


def _plus(used: Used, entry: Entry) -> Used:
    return replace(
        used,
        requests=used.requests + 1,
        usage=used.usage + entry.usage,
        cost=None if used.cost is None or entry.cost is None else used.cost + entry.cost,
        estimated=used.estimated + entry.estimated,
    )
