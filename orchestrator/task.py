"""What was asked: repository, prompt, base, worker, limits, checks."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from orchestrator.delegation import PREFIX, Delegation
from sandbox.companion import Companion
from sandbox.limits import Limits as BoxLimits

MAX_TURNS = 50
"""No run takes more model turns than this, whatever was asked."""

Number = TypeVar("Number", int, float)

WorkerKind = Literal["agent", "command", "claude", "codex", "acp"]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run has to stop. `None` means: no such limit."""

    turns: int = 25
    input_tokens: int = 500_000
    output_tokens: int = 16_384
    """Of one answer."""
    cost: float | None = 3.0
    """US dollars; a model without a known price is bound by tokens alone."""
    seconds: float = 3600.0
    silence: float = 300.0
    """Seconds in which a delegate prints no line and its model ends no answer."""
    turn_seconds: float = 1800.0
    """Seconds of a delegate between two answers of its model."""

    def within(self, bounds: Delegation) -> "Limits":
        """These, or what one delegation may use where that is less."""
        return replace(
            self,
            turns=_less(self.turns, bounds.max_turns),
            cost=bounds.max_budget if self.cost is None else _less(self.cost, bounds.max_budget),
            seconds=_less(self.seconds, bounds.timeout),
        )


def _less(number: Number, bound: Number | None) -> Number:
    return number if bound is None else min(number, bound)


@dataclass(frozen=True, slots=True)
class Network:
    """What a run may reach of the world; by default nothing."""

    allow: tuple[str, ...] = ()
    """Bundles, hosts, and hosts with ports, for work and proof."""
    setup: tuple[str, ...] = ()
    """The same for set-up, where it has network at all."""
    indexes: dict[str, str] = field(default_factory=dict)
    """Private package indexes: their URLs by their names."""
    private_hosts: tuple[str, ...] = ()
    """Hosts that may be in a private network or on this machine; never from a repository."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a delegate's program is handed of the base commit, besides the files to work on."""

    files: bytes = b""
    """A tar archive for its home: what it is told, and files of its own kinds; may be empty."""
    told: str = ""
    """Where, below its home, it is told what the repository says; empty: that is nothing."""
    hooks: dict[str, Any] = field(default_factory=dict)
    """Commands that it runs at certain moments, as its own settings would say it."""
    servers: dict[str, Any] = field(default_factory=dict)
    """MCP servers that it starts, likewise, by their names."""


@dataclass(frozen=True, slots=True)
class Task:
    """One request, complete: nothing below this line reads flags or settings again."""

    repository: str
    """A local path or a URL, as the user gave it."""
    prompt: str
    base: str = "HEAD"
    worker: WorkerKind = "agent"
    command: tuple[str, ...] = ()
    """The deterministic fixer, for the `command` worker; the agent's program, for `acp`."""
    model: str = ""
    """`provider:name`, for the `agent` worker."""
    image: str = ""
    """Empty: the product's own base image."""
    runtime: str = ""
    """The OCI runtime of every container, such as `runsc`; empty: the engine's default."""
    setup: tuple[str, ...] = ()
    setup_network: bool = False
    network: Network = field(default_factory=Network)
    setup_inputs: tuple[str, ...] = ()
    """Globs of further files that decide what set-up does."""
    history: int | None = 50
    """Generations of commits that the sandbox is given, the base counted; None: all."""
    checks: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """Files and folders, from the root of the repository, that alone may change; none: all."""
    notes: tuple[str, ...] = ()
    """Standing remarks for the model, besides the usual ones."""
    conversation: str = ""
    """The id of the conversation that this run goes on with; empty: it has one of its own."""
    map_tokens: int = 0
    """How large a map of the repository the agent is given; 0: none."""
    map: str = ""
    """That map, once the run has drawn it: lines that are data."""
    delegates: tuple[str, ...] = ()
    """Programs to which the `agent` worker may hand over parts of the task."""
    lend: bool = True
    """Whether delegates are offered our tools for large files; see `lends`."""
    delegations: dict[str, Delegation] = field(default_factory=dict)
    """What programs that can be delegated to are given, by their names."""
    instructions: bool = True
    """Whether the worker goes by what the repository says to agents."""
    told: str = ""
    """That, once the run has read it from the base commit: lines that are data."""
    project_settings: bool = False
    """Whether a delegate gets the repository's hooks and MCP servers."""
    for_delegates: dict[str, Handed] = field(default_factory=dict)
    """What each delegate is handed, by its name, once the run has read it."""
    replay: str = ""
    """A folder of recorded model traffic that answers in the model's place."""
    login: bool = False
    """Whether a delegate's program works with a subscription's login in place of a key."""
    limits: Limits = field(default_factory=Limits)
    timed_by: str = ""
    """The setting that says `limits.seconds`, where it is the one of a command or a delegate."""
    box: BoxLimits = field(default_factory=BoxLimits)
    services: tuple[Companion, ...] = ()
    """What runs beside the work and beside each proof, such as a database."""

    @property
    def lends(self) -> bool:
        """Whether its delegate is offered our tools for large files."""
        allowed = self.delegation(self.worker).allowed_tools
        return self.lend and (allowed is None or PREFIX in allowed)

    def delegation(self, program: str) -> Delegation:
        """What a program that can be delegated to is given."""
        return self.delegations.get(program, Delegation())

    @property
    def handed(self) -> Handed:
        """What its worker is handed; nothing where that is no delegate."""
        return self.for_delegates.get(self.worker, Handed())
