"""A delegate's program: how it is started, and how what it prints is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from orchestrator.delegates.transcript import Transcript
from orchestrator.events import AnyEvent
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.gateway.routes import Api
from sandbox.kit import Kit


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


class Cli(Protocol):
    """One program."""

    name: str
    kit: Kit
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
    """Where it keeps a session, below its home: a glob with {} for the session's id."""
    transcript: str
    """Where it finds a session that is put there, likewise."""

    def command(self, task: Task, before: Transcript | None = None) -> Sequence[str]:
        """How it is started, on a session if there is one; the prompt comes by standard input."""
        ...

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """What it sees besides; `token` is what it holds in place of a key."""
        ...

    def reader(self) -> Reader:
        """For a new session."""
        ...
