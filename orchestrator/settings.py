"""`.orchestrator.toml` of the base commit: what a repository says about runs on it."""

import math
from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

from orchestrator import delegation, named_command, toml_file
from orchestrator.agent_settings import AgentSettings
from orchestrator.beside import Beside, companions
from orchestrator.delegation import DelegateSettings
from orchestrator.errors import SettingsError
from orchestrator.machine import SandboxSettings, size
from orchestrator.named_command import CommandSettings
from orchestrator.network import NetworkSettings
from orchestrator.task import Limits

FILE = ".orchestrator.toml"

_LONGEST_RUN = 7 * 86_400.0
_MOST_GENERATIONS = 100_000


class Policy(Struct, frozen=True):
    """The `[guardrails]` table: what this repository adds to the built-in rules."""

    protected: tuple[str, ...] = ()
    """Globs of further paths no run may touch."""
    review: tuple[str, ...] = ()
    """Globs of further paths a person has to look at."""
    allow: tuple[str, ...] = ()
    """Globs of paths that the built-in lists of paths leave alone."""
    made_up_secrets: tuple[str, ...] = ()
    """Globs of files whose secrets are inventions, such as test fixtures: review, not block."""
    max_files: int = 100
    max_lines: int = 5000
    """Added and removed lines together."""
    max_blob_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        for glob in (*self.protected, *self.review, *self.allow, *self.made_up_secrets):
            _check_glob(glob)
        for name in ("max_files", "max_lines", "max_blob_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")


class Settings(Struct, frozen=True):
    """What a repository says about runs on it."""

    image: str = ""
    setup: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    setup_network: bool = False
    setup_inputs: tuple[str, ...] = ()
    """Globs of files, besides the well-known ones, that set-up goes by."""
    history: int | Literal["all"] = 50
    """Generations of commits that the sandbox sees, the base counted."""
    model: str = ""
    agent: AgentSettings = field(default_factory=AgentSettings)
    delegates: DelegateSettings = field(default_factory=DelegateSettings)
    commands: dict[str, CommandSettings] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    guardrails: Policy = field(default_factory=Policy)
    services: dict[str, Beside] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for glob in self.setup_inputs:
            _check_glob(glob)
        if self.history != "all" and not 1 <= self.history <= _MOST_GENERATIONS:
            raise ValueError(f'history must be between 1 and {_MOST_GENERATIONS}, or "all"')


def read(data: bytes | None) -> Settings:
    """Read the policy file as the base commit has it; `None` stands for a base without one.

    Raises SettingsError that names the line or the key.
    """
    if data is None:
        return Settings()
    settings = toml_file.load(FILE, data, Settings)
    try:
        commands = (*settings.setup, *settings.checks)
        check(settings.limits, settings.model, commands, "limits.{}".format)
        companions(settings.services, size)
        delegation.check(settings.delegates)
        named_command.check(settings.commands)
    except ValueError as error:
        raise SettingsError(f"{FILE}: {error}.") from None
    return settings


def _check_glob(glob: str) -> None:
    if not glob.strip("/ "):
        raise ValueError("a glob must not be empty")
    if glob.startswith("!"):
        raise ValueError(f"{glob!r}: exceptions are written in `allow`, without the `!`")
    if {"", ".", ".."} & set(glob.strip("/").split("/")):
        raise ValueError(f"{glob!r} fits no path: leave out what is `.`, `..` or empty in it")


def check(
    limits: Limits, model: str, commands: tuple[str, ...], called: Callable[[str], str]
) -> None:
    """Raise ValueError for what neither the file nor a flag may say."""
    for name in ("turns", "input_tokens", "output_tokens"):
        if getattr(limits, name) < 1:
            raise ValueError(f"{called(name)} must be at least 1, not {getattr(limits, name)}")
    if limits.cost is not None and not (limits.cost > 0 and math.isfinite(limits.cost)):
        raise ValueError(f"{called('cost')} must be more than 0 dollars, not {limits.cost:g}")
    for name in ("seconds", "silence", "turn_seconds"):
        if not 1 <= (seconds := getattr(limits, name)) <= _LONGEST_RUN:
            raise ValueError(f"{called(name)} must be between 1 and 604800, not {seconds:g}")
    if model and not all(model.partition(":")):
        raise ValueError(f"model must be written as provider:name, not {model!r}")
    if not all(command.strip() for command in commands):
        raise ValueError("a set-up or check command is empty, leave it out")
