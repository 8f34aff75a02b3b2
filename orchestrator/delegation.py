"""The `[delegates]` tables: what Claude Code and Codex are given, all and each."""

import math
import re
from dataclasses import dataclass

from msgspec import Struct, field

from orchestrator import owned_flags
from orchestrator.agent_command import AcpSettings

SERVER = "orchestrator"
"""The name that programs know our tools' server by."""
PREFIX = f"mcp__{SERVER}"
"""What the names of our tools begin with; by itself, in a list of those allowed, all of them."""
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PROVIDERS = {"claude": "anthropic", "codex": "openai"}
"""Whose models each program asks."""
_CODEX_TOOLS = (
    "Codex has no list of its tools; extra_flags can switch one off,"
    ' such as ["--disable", "shell_tool"]'
)


@dataclass(frozen=True, slots=True)
class Delegation:
    """The `[delegates.claude]` and `[delegates.codex]` tables: how one program works for us."""

    model: str = ""
    """Without the provider; empty: the one of the run, or the program's own choice."""
    allowed_tools: tuple[str, ...] | None = None
    """The program's own tools that are offered, and `PREFIX` for ours; None: all."""
    system_prompt: str = ""
    """Said besides the program's own instructions."""
    max_budget: float | None = None
    """US dollars; this, `timeout` and `max_turns` bound one delegation."""
    timeout: float | None = None
    """Seconds."""
    max_turns: int | None = None
    extra_flags: tuple[str, ...] = ()
    """Further arguments for the program."""

    def named(self, program: str) -> str:
        """Its model with the provider that the program asks; empty: none is named."""
        return f"{_PROVIDERS[program]}:{self.model}" if self.model else ""

    def timed_by(self, program: str, seconds: float) -> str:
        """Its setting that says so many seconds; empty: none does."""
        return f"delegates.{program}.timeout" if self.timeout == seconds else ""


class DelegateSettings(Struct, frozen=True):
    """The `[delegates]` table."""

    tools: bool = True
    """Whether they are offered our tools for large files."""
    claude: Delegation = field(default_factory=Delegation)
    codex: Delegation = field(default_factory=Delegation)
    acp: AcpSettings = field(default_factory=AcpSettings)
    instructions: bool = True
    """Whether they go by what the repository says to agents, in AGENTS.md and the like."""
    project_settings: bool = False
    """Whether the repository's hooks and MCP servers for them are started, in the sandbox."""

    @property
    def each(self) -> dict[str, Delegation]:
        """Those of which something is said, by the names of their programs."""
        both = {"claude": self.claude, "codex": self.codex}
        return {name: said for name, said in both.items() if said != Delegation()}


def check(settings: DelegateSettings) -> None:
    """Raise ValueError for what a table may not say; the message names the table and the key."""
    for name, said in settings.each.items():
        if problem := _problem(name, said):
            raise ValueError(f"delegates.{name}.{problem}")


def _problem(program: str, said: Delegation) -> str:
    prefix = f"{_PROVIDERS[program]}:"
    if said.model.startswith(prefix):
        return f"model is written without the provider, as {said.model.removeprefix(prefix)!r}"
    if "\0" in said.model or said.model.startswith("-"):
        return f"model: {said.model!r} is not the name of a model"
    if "\0" in said.system_prompt:
        return "system_prompt has a NUL character in it, leave it out"
    return (
        _problem_of_tools(program, said.allowed_tools)
        or _problem_of_bounds(said)
        or owned_flags.problem(program, said.extra_flags)
    )


def _problem_of_tools(program: str, tools: tuple[str, ...] | None) -> str:
    if tools is None:
        return ""
    if program == "codex":
        return f"allowed_tools: {_CODEX_TOOLS}"
    wrong = [tool for tool in tools if not _TOOL.fullmatch(tool)]
    return f"allowed_tools: {wrong[0]!r} is not the name of a tool" if wrong else ""


def _problem_of_bounds(said: Delegation) -> str:
    budget, timeout, turns = said.max_budget, said.timeout, said.max_turns
    if budget is not None and not (budget > 0 and math.isfinite(budget)):
        return f"max_budget must be more than 0 dollars, not {budget:g}"
    if timeout is not None and not 1 <= timeout <= 604_800:
        return f"timeout must be between 1 and 604800 seconds, not {timeout:g}"
    if turns is not None and turns < 1:
        return f"max_turns must be at least 1, not {turns}"
    return ""
