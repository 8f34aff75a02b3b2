"""One thing that happened in a run. Events are data: written to the journal, shown, never obeyed.

Each event is a frozen struct tagged with its `kind`; `time` (Unix seconds) and `seq` are added by
the journal, not here.
"""

import re
from typing import ClassVar, Literal, TypeAlias

from msgspec import Struct

from orchestrator.outcome import Finding, Outcome, Verdict
from orchestrator.outcome import Stop as Stop

Stage = Literal["setup", "work", "base", "proof"]
"""Where a command ran: preparing, at work, on the untouched base, in the final proof."""
_NO_MODULE = re.compile(r"(?m)^\S*python[\d.]*: No module named \S+\s*\Z")
"""What `python3 -m NAME` says without it; a traceback, of a test say, has other words."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class Event(Struct, frozen=True, kw_only=True, tag_field="kind", tag=_snake):
    """The base of all events."""

    changes_files: ClassVar[bool] = False
    """True when the run must look at the files after this event."""


class Deed(Event, frozen=True, kw_only=True):
    """What a worker did, or a program to which our agent delegated a part of its task."""

    delegate: str = ""
    """That program; empty: the worker itself. `step` is our agent's in either case."""


class RunStarted(Event, frozen=True):
    run: str
    repository: str
    base: str
    """Commit id, 40 hex digits."""
    worker: str
    prompt: str
    dirty: int = 0
    """Files changed in the user's work tree that the base does not have."""


class StageStarted(Event, frozen=True):
    """Something that may take a while begins."""

    stage: Stage
    command: str = ""
    """The check, where one begins."""


class Prepared(Event, frozen=True):
    image: str
    cached: bool
    seconds: float
    reused: bool = False
    """Set-up did not run again: its inputs are those of an earlier commit."""
    left: tuple[str, ...] = ()
    """Untracked paths that set-up left in the tree; they are not the worker's."""
    restored: tuple[str, ...] = ()
    """Tracked paths that set-up had altered and that were put back."""


class SetupFailed(Event, frozen=True):
    """Where to read what set-up printed before it failed."""

    tail: str
    """The last lines."""
    file: str
    """All of it."""


class Turn(Deed, frozen=True):
    """One answer of a model: what it cost."""

    step: int
    model: str
    text: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    """US dollars; None where the price is unknown."""
    seconds: float = 0.0
    final: bool = False
    """It asks for no call: the work ends with it, unless it is refused."""


class Text(Deed, frozen=True):
    """A piece of the model's answer as it streams in; shown, not kept in the journal."""

    text: str


class Output(Deed, frozen=True):
    """One line of a command's output; shown, not kept in the journal (artifacts keep it)."""

    stream: Literal["stdout", "stderr"]
    text: str
    stage: Stage = "work"


class Session(Deed, frozen=True):
    """A delegate's program began, or went on with, a session of its own."""

    id: str
    program: str
    """Its name and version."""
    model: str = ""
    """As it says, where it says one."""
    tools: tuple[str, ...] = ()
    """What its model is offered, where it says so."""


class Resumed(Event, frozen=True):
    """The run goes on with an earlier one: with its files, and with its worker's session."""

    run: str
    commits: int
    """So many changes were made before."""
    tip: str
    tree: str
    session: str
    forked: bool = False
    """The session goes on under an id of its own."""


class Raw(Deed, frozen=True):
    """A line of a delegate's program that is of no known type."""

    type: str
    text: str


class ToolStarted(Deed, frozen=True):
    step: int
    call: str
    tool: str
    arguments: str
    """The raw JSON text the model sent."""


class ToolFinished(Deed, frozen=True):
    step: int
    call: str
    tool: str
    result: str
    """As the model sees it."""
    error: bool = False
    seconds: float = 0.0


class FilesTouched(Deed, frozen=True):
    """The worker did something after which the files may differ."""

    changes_files: ClassVar[bool] = True
    step: int
    tool: str
    call: str = ""


class Changed(Deed, frozen=True):
    """The host recorded a change."""

    commit: str
    tree: str
    step: int
    tool: str
    files: int
    added: int
    removed: int
    findings: tuple[Finding, ...] = ()
    paths: tuple[str, ...] = ()
    """The first 100 of those that differ."""


class LeftOut(Event, frozen=True):
    """Paths that could not be recorded: nested repositories, unreadable files."""

    paths: tuple[str, ...]
    step: int = 0


class Ignored(Event, frozen=True):
    """Paths that a `.gitignore` keeps out of the record."""

    paths: tuple[str, ...]
    """At most 1,000 of them."""
    total: int


class Crashed(Event, frozen=True):
    """The sandbox died. Whoever is told opens it again, or ends the run, before the next event."""

    reason: str


class Restarting(Event, frozen=True):
    """A sandbox that died will be opened again."""

    attempt: int
    """1 for the first time it died."""
    of: int
    """So many attempts a run has."""
    seconds: float
    """The wait before it."""


class Recovered(Event, frozen=True):
    """The sandbox is open again, with the files as they were last recorded."""

    attempt: int
    tree: str


class CheckFinished(Event, frozen=True):
    command: str
    stage: Stage
    passed: bool
    status: int
    """The command's exit status; 124 when its time ran out."""
    seconds: float
    tail: str = ""
    """The last lines of its output."""
    limit: str = ""
    """The limit of the sandbox that ended it, in words."""

    @property
    def could_not_start(self) -> bool:
        """A shell found no such program (127) or none to run (126), or Python no such module."""
        missing = _NO_MODULE.search(self.tail)
        return self.status in (126, 127) or (self.status == 1 and missing is not None)

    @property
    def ending(self) -> str:
        """Its status, and the limit that explains it."""
        return f"{self.status}: {self.limit}" if self.limit else str(self.status)


class EgressRefused(Event, frozen=True):
    """Something in a sandbox asked for a host that it may not reach."""

    host: str
    """With its port."""
    count: int
    """How often."""
    remedy: str
    """The setting that would allow it."""
    stage: Stage


class Warned(Deed, frozen=True):
    text: str


class WorkerFinished(Event, frozen=True):
    """The worker's own account of why it stopped: a fact about it, not a claim to believe."""

    reason: Stop
    message: str = ""
    until: float | None = None
    """Unix seconds; set when `rate_limited` names a time."""


class Delegated(Event, frozen=True):
    """A program has stopped that our agent delegated to. It decides nothing: the agent goes on."""

    delegate: str
    step: int
    reason: Stop
    message: str = ""
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None where a price is unknown."""
    seconds: float = 0.0
    until: float | None = None
    """As of `WorkerFinished`."""


class Judged(Event, frozen=True):
    verdict: Verdict
    findings: tuple[Finding, ...] = ()


class Delivered(Event, frozen=True):
    branch: str
    commit: str
    squashed: bool = False


class Approved(Event, frozen=True):
    tree: str
    by: str


class Merged(Event, frozen=True):
    branch: str
    commit: str


class RunFinished(Event, frozen=True):
    outcome: Outcome
    message: str = ""
    seconds: float = 0.0


AnyEvent: TypeAlias = (
    RunStarted
    | StageStarted
    | Prepared
    | SetupFailed
    | Turn
    | Text
    | Output
    | Session
    | Resumed
    | Raw
    | ToolStarted
    | ToolFinished
    | FilesTouched
    | Changed
    | LeftOut
    | Ignored
    | Crashed
    | Restarting
    | Recovered
    | CheckFinished
    | EgressRefused
    | Warned
    | WorkerFinished
    | Delegated
    | Judged
    | Delivered
    | Approved
    | Merged
    | RunFinished
)
