"""Why a delegate stopped: from facts together, never from its own word alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from orchestrator.command import COULD_NOT_START, NOT_STARTED
from orchestrator.delegates.cli import Reader
from orchestrator.events import WorkerFinished
from orchestrator.outcome import Stop
from sandbox.gateway.budget import Bound, Spent, Used
from sandbox.gateway.usage import NOTHING
from sandbox.stream import Exit


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known when its program has ended."""

    program: str
    reader: Reader
    exit: Exit
    used: Used
    over: Spent | None
    """The budget that is used up."""
    refused_key: str
    """That the key is not good, in a sentence, when that was the provider's last answer."""
    stopped: Stop | None
    """Why we ended it; None when it ended by itself."""
    complaint: str
    """The last lines of its standard error."""
    unconnected: str = ""
    """That its last question found no server, in a sentence."""
    longest: bool = False
    """An answer was as long as one may be."""
    dismissed: bool = False
    """It had finished, and we ended it: its status says nothing."""
    awaited: str = ""
    """What it was asked first, and never answered."""
    patience: float = 0.0
    """Seconds that it had for that."""

    @property
    def finished(self) -> bool:
        """It says so itself, without an error."""
        return self.reader.terminal is not None and self.reader.terminal.ok

    @property
    def unanswered(self) -> bool:
        """It asked models, and none ever answered."""
        asked = self.used.requests + self.used.refused
        return asked > 0 and self.used.usage == NOTHING

    @property
    def in_vain(self) -> bool:
        """Nothing that it ran was run, or all of it failed."""
        read = self.reader
        return read.commands == read.failures and (read.broken or read.commands >= VAIN)

    @property
    def error(self) -> str:
        """What it says of its end, or what is known where it says nothing."""
        if self.reader.terminal:
            return self.reader.terminal.text
        if self.awaited:
            return self._never_begun
        message = f"{self.program} ended with status {self.exit.status}, without its last event"
        return f"{message}: {self.complaint}" if self.complaint else message

    @property
    def _never_begun(self) -> str:
        if self.exit.status in NOT_STARTED:
            return f"{self.program} {COULD_NOT_START}{self._of_another}"
        ended = f"ended with status {self.exit.status} before it answered"
        more = self.complaint or "is it an ACP agent?"
        return f'{self.program} {ended} "{self.awaited}": {more}'

    @property
    def _of_another(self) -> str:
        """What it says that is not of itself: behind `env`, the agent is what is not there."""
        itself = f"{self.program}: No such file or directory"
        return f" It said: {self.complaint}" if self.complaint not in ("", itself) else ""

    @property
    def silence(self) -> str:
        """What there is to say of one that said nothing any more."""
        if not self.awaited:
            return f"{self.program} said nothing any more"
        within = f"within {self.patience:.0f} s: is it an ACP agent?"
        return f'{self.program} did not answer "{self.awaited}" {within}'


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table."""

    applies: Callable[[Seen], object]
    reason: Stop | Callable[[Seen], Stop]
    message: Callable[[Seen], str]


VAIN = 3
"""Commands that failed, and none that did not: one red test alone says nothing of the sandbox."""
LIMITED = "the provider's rate or usage limit is reached"
BUDGETS: dict[Bound, Stop] = {
    "answers": "turns",
    "requests": "turns",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "seconds": "time",
}

CASES = (
    Case(
        lambda seen: seen.stopped == "stalled",
        "stalled",
        lambda seen: seen.silence,
    ),
    Case(lambda seen: seen.refused_key, "auth", lambda seen: seen.refused_key),
    Case(
        lambda seen: (
            seen.stopped == "rate_limited"
            or (seen.used.limited and not seen.stopped and not seen.finished)
        ),
        "rate_limited",
        lambda seen: LIMITED + _until(seen.used.until),
    ),
    Case(
        lambda seen: seen.stopped,
        lambda seen: cast("Stop", seen.stopped),
        lambda seen: seen.reader.said,
    ),
    Case(
        lambda seen: seen.over and not seen.finished,
        lambda seen: BUDGETS[cast("Spent", seen.over).bound],
        lambda seen: str(seen.over),
    ),
    Case(
        lambda seen: seen.longest and not seen.finished,
        "output_tokens",
        lambda seen: seen.error,
    ),
    Case(
        lambda seen: seen.unconnected and not seen.finished,
        "failed",
        lambda seen: seen.unconnected,
    ),
    Case(
        lambda seen: seen.in_vain,
        "tools_broken",
        lambda seen: f"nothing that {seen.program} ran in the sandbox worked",
    ),
    Case(lambda seen: seen.reader.terminal is None, "failed", lambda seen: seen.error),
    Case(
        lambda seen: not seen.finished,
        lambda seen: seen.reader.terminal.stop if seen.reader.terminal else "failed",
        lambda seen: seen.error,
    ),
    Case(
        lambda seen: not seen.exit.ok and not seen.dismissed,
        "failed",
        lambda seen: (
            f"{seen.program} said it was finished, and ended with status {seen.exit.status}"
        ),
    ),
    Case(
        lambda seen: seen.unanswered,
        "failed",
        lambda seen: (
            f"{seen.program} said it was finished, and no model had answered it: {seen.error}"
        ).rstrip(": "),
    ),
    Case(lambda seen: True, "complete", lambda seen: seen.error or seen.reader.said),
)
"""What can be seen at an end, from what explains the most to what explains the least."""


def _until(when: float | None) -> str:
    return f", until {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(when))}" if when else ""


def ending(seen: Seen) -> WorkerFinished:
    """The first case that applies."""
    case = next(case for case in CASES if case.applies(seen))
    reason = case.reason(seen) if callable(case.reason) else case.reason
    until = seen.used.until if reason == "rate_limited" else None
    return WorkerFinished(reason=reason, message=case.message(seen), until=until)
