"""One attempt at a task while it goes on: where events go, and what is known of it so far."""

import errno
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from orchestrator import foreign
from orchestrator.errors import ModelError, QuarantineError
from orchestrator.events import (
    AnyEvent,
    Changed,
    CheckFinished,
    Delegated,
    FilesTouched,
    RunFinished,
    ToolFinished,
    ToolStarted,
    Turn,
    WorkerFinished,
)
from orchestrator.evidence import Evidence
from orchestrator.journal import Journal
from orchestrator.outcome import Condition, Facts, Outcome, judge_run
from orchestrator.reason import Ending, reason
from orchestrator.record import Record
from orchestrator.records import Held
from sandbox.errors import CrossingError, DiskFullError, SandboxError, SandboxLostError

INDENTED = "\n  "
"""Where the lines begin that stand below the sentence of an error."""

Watch = Callable[[AnyEvent], None]
"""Is told every event as it happens, also those the journal does not keep."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What the model's answers have used so far."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None once the price of any answer is unknown."""

    def plus(self, turn: Turn) -> "Totals":
        """These and one more answer."""
        return Totals(
            turns=self.turns + 1,
            input_tokens=self.input_tokens + turn.input_tokens,
            output_tokens=self.output_tokens + turn.output_tokens,
            cost=_sum(self.cost, turn.cost),
        )


@dataclass(slots=True)
class Attempt:
    """The live side of a record: the journal, the watcher, and the facts gathered."""

    held: Held
    journal: Journal
    watch: Watch
    # Nothing has been written in a sandbox yet, so what is recorded is all there is.
    facts: Facts = Facts(stop=None, rehash_equal=True)  # noqa: RUF009 - it is frozen
    said: str = ""
    """The worker's last words."""
    error: str = ""
    """What went wrong outside the worker, in a sentence."""
    below: str = ""
    """Indented lines that belong to it, such as what a service said; often none."""
    commits: int = 0
    totals: Totals = Totals()
    asked: ToolStarted | None = None
    """The tool call that was started last."""
    calls: dict[str, ToolStarted] = field(default_factory=dict)
    """The call that has not ended, of the worker and of its delegate, the inner one last: what is
    found changed now is its doing."""
    models: dict[str, str] = field(default_factory=dict)
    """Whose model answered last, of the worker and of its delegates."""
    listen: Watch = lambda event: None
    """Is told every event, for the worker's sake."""
    image: str = ""
    """The prepared image; empty before there is one."""

    @property
    def id(self) -> str:
        return self.held.record.id

    def tell(self, event: AnyEvent) -> None:
        """Journal an event, show it, and keep what it says about the run as a whole."""
        self.journal.write(event)
        self.watch(event)
        self.listen(event)
        if isinstance(event, ToolStarted):
            self.asked = self.calls[event.delegate] = event
        elif isinstance(event, ToolFinished | Delegated):
            self.calls.pop(event.delegate, None)
        elif isinstance(event, Changed):
            self.commits += 1
        elif isinstance(event, Turn):
            self.totals = self.totals.plus(event)
            self.models[event.delegate] = event.model
        elif isinstance(event, WorkerFinished):
            self.facts = replace(self.facts, stop=event.reason)
            self.said = event.message

    def tell_evidence(self, tree: str, events: Iterable[AnyEvent]) -> Evidence:
        """Tell what checks show on a tree, and keep it in the record."""
        checks = []
        for event in events:
            self.tell(event)
            if isinstance(event, CheckFinished):
                checks.append(event)
        evidence = Evidence(tree, self.image, tuple(checks))
        self.held.update(evidence=(*self.held.record.evidence, evidence))
        return evidence

    def tell_all(self, events: Iterable[AnyEvent]) -> None:
        """Tell several events as they come."""
        for event in events:
            self.tell(event)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Turn what goes wrong inside into facts: what was recorded before stays and is judged."""
        try:
            yield
        except KeyboardInterrupt:
            self.facts = replace(self.facts, cancelled=True)
        except (SandboxError, QuarantineError, ModelError, OSError) as error:
            facts = _facts_of(error, self.facts)
            if facts is None:
                raise
            self.facts = facts
            self.error, between, lines = _sentence(error).partition(INDENTED)
            self.below = between + lines

    def last_touch(self) -> FilesTouched:
        """Whose doing it is what still differs at the end: a call that was cut off, or nobody's."""
        for call in reversed(self.calls.values()):
            return FilesTouched(
                step=call.step, tool=call.tool, call=call.call, delegate=call.delegate
            )
        return FilesTouched(step=self.totals.turns, tool="background")

    def subject(self, touched: FilesTouched) -> str:
        """A commit's first line: the tool and what it was about."""
        asked = self.asked
        mine = asked and (asked.delegate, asked.call) == (touched.delegate, touched.call)
        about = _about(asked.arguments) if asked and mine else ""
        return f"{touched.tool}: {about}" if about else touched.tool

    def finish(self, seconds: float) -> Record:
        """Say how it ended, for good."""
        outcome = judge_run(self.facts)
        why = reason(self._ending(outcome))
        # They belong to the error's sentence, which a graver end leaves out.
        below = self.below if self.error in why else ""
        message = why + _without_branch(self.held.record, outcome) + below
        record = self.held.update(
            state="finished",
            outcome=outcome,
            message=message,
            said=self.said,
            seconds=seconds,
            turns=self.totals.turns,
            input_tokens=self.totals.input_tokens,
            output_tokens=self.totals.output_tokens,
            cost=self.totals.cost,
        )
        self.tell(RunFinished(outcome=outcome, message=message, seconds=seconds))
        return record

    def _ending(self, outcome: Outcome) -> Ending:
        record = self.held.record
        return Ending(
            outcome=outcome,
            facts=self.facts,
            limits=record.task.limits,
            commits=self.commits,
            findings=record.findings,
            evidence=record.evidence,
            said=self.said,
            error=self.error,
            timed_by=record.task.timed_by,
        )


def _sum(known: float | None, more: float | None) -> float | None:
    return None if known is None or more is None else known + more


def _about(arguments: str) -> str:
    """The first text among a call's arguments: the path, or the command."""
    try:
        asked = foreign.parse(arguments)
    except ValueError:
        return ""
    values = asked.values() if isinstance(asked, dict) else asked if isinstance(asked, list) else ()
    words = [value for value in values if isinstance(value, str)]
    return shlex.join(words) if isinstance(asked, list) else words[0] if words else ""


def _without_branch(record: Record, outcome: Outcome) -> str:
    """What a person should know of a branch that could not be written."""
    if not record.unpublished:
        return ""
    verb = "merge" if outcome is Outcome.DONE else "approve"
    return (
        f"; its branch could not be written: {record.unpublished.rstrip('.')}; then"
        f" `orchestrator {verb} {record.short}` writes it"
    )


def _sentence(error: Exception) -> str:
    """The error in a person's words; the system's own say nothing of what to do."""
    if not isinstance(error, OSError):
        return str(error)
    where = f" at {error.filename}" if error.filename else ""
    return f"The disk is full{where}: free some space and start the run again."


_CONDITIONS: Mapping[str | None, Condition] = {
    None: "lost",
    "time": "time_up",
    "disk": "disk_full",
}
"""What became of a sandbox, by the limit of its own at which it ended."""


def _facts_of(error: Exception, known: Facts) -> Facts | None:
    """What an error says about the run; None when it is nobody's but the program's."""
    match error:
        case SandboxLostError(limit=limit):
            return replace(known, sandbox=_CONDITIONS[limit])
        case DiskFullError():
            return replace(known, sandbox="disk_full")
        case QuarantineError() | CrossingError():
            return replace(known, rehash_equal=False)
        case SandboxError() | ModelError():
            return replace(known, stop="failed")
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return replace(known, sandbox="disk_full")
        case _:
            return None
