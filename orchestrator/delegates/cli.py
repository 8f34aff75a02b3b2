"""A delegate's program: how it is started, and how what it prints is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from orchestrator.delegates.transcript import Transcript
from orchestrator.events import AnyEvent
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.gateway.routes import Api
from sandbox.kit import Kit
from sandbox.pipe import Pipe
from sandbox.stream import Line


@dataclass(frozen=True, slots=True)
class Terminal:
    """The program's own last event: a claim, one fact among others."""

    ok: bool
    text: str
    """Its final answer, or the error it names."""
    stop: Stop = "complete"
    """What it says it stopped for, where it says more than ok or not."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What somebody pays a provider with."""

    variable: str
    """Where it is on this machine."""
    kind: str = "key"
    """What a person calls it."""


class Reader(Protocol):
    """Reads one session, line by line."""

    terminal: Terminal | None
    """Set by the terminal event."""
    said: str
    """What the model said last."""
    commands: int
    """Commands and edits that ended."""
    failures: int
    """How many of them failed."""
    broken: bool
    """The program's own sandbox kept something from running."""

    @property
    def steps(self) -> int:
        """Answers of the model so far, as the program counts them; sub-agents and side questions
        are not among them.
        """
        ...

    def read(self, line: bytes) -> Iterator[AnyEvent]:
        """The events of one line of standard output; what is not known is `Raw`, never an error."""
        ...

    def asked(self, results: Mapping[str, str]) -> None:
        """The gateway saw a question, with these results of calls, by the calls' ids."""
        ...

    def answered(self) -> None:
        """The gateway saw an answer of a model end."""
        ...

    @property
    def caught_up(self) -> bool:
        """Whether each call whose result a question told of was told in a line, too."""
        ...


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a session begins with."""

    told: str
    """The prompt."""
    task: Task
    token: str
    """What the program holds in place of a key."""
    before: Transcript | None = None
    """The session it goes on with."""


@runtime_checkable
class Talking(Protocol):
    """Whoever speaks to a program while it works; such a `Reader` answers what it reads."""

    @property
    def over(self) -> bool:
        """All was said and answered: the program has no reason to stay."""
        ...

    @property
    def awaited(self) -> str:
        """The first thing that the program was asked, while it has not answered; else empty."""
        ...

    def begin(self, briefing: Briefing) -> bytes | Pipe:
        """The program's input."""
        ...

    def lively(self, line: Line) -> bool:
        """Whether a line, the last one that was read, breaks the program's silence."""
        ...

    def leave(self) -> bool:
        """Ask the program to end, in its own words; False where it takes none."""
        ...

    def close(self) -> None:
        """The program has ended."""
        ...


class Prompt:
    """Says all at once, at the beginning."""

    over = False
    awaited = ""

    def begin(self, briefing: Briefing) -> bytes:
        """As `Talking.begin` says."""
        return briefing.told.encode()

    def lively(self, line: Line) -> bool:
        """Any line does."""
        return True

    def leave(self) -> bool:
        """It does not listen any more."""
        return False

    def close(self) -> None:
        """There is nothing to be let go of."""


class Program(Protocol):
    """How one program is driven."""

    name: str
    api: Api
    """Which API it speaks."""
    credential: Credential
    """What the gateway shows for it, and it never sees."""
    counts_turns: bool
    """It keeps to `Limits.turns` itself, and counts the answers of its main conversation alone;
    else all answers count, in the gateway."""
    models: tuple[str, ...]
    """What it may ask when no model was named."""
    transcripts: str
    """Where it keeps a session, below its home: a glob with {} for the session's id; empty: nobody
    knows, and it cannot be resumed."""
    transcript: str
    """Where it finds a session that is put there, likewise."""

    @property
    def kits(self) -> tuple[Kit, ...]:
        """What it comes from; none where the image has it."""
        ...

    def command(self, task: Task, before: Transcript | None = None) -> Sequence[str]:
        """How it is started, on a session if there is one; the prompt comes by standard input."""
        ...

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """What it sees besides; `token` is what it holds in place of a key."""
        ...

    def reader(self) -> Reader:
        """For a new session."""
        ...


class Cli(Program, Protocol):
    """A program that we have a kit of."""

    kit: Kit
    """Its only one."""
