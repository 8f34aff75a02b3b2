"""A tool: a function the model may call, with its schema read off its signature and docstring."""

import inspect
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from orchestrator.events import AnyEvent
from orchestrator.foreign import well_formed
from orchestrator.models.model import ToolCall, ToolResult, ToolSchema
from orchestrator.spent import Spent
from orchestrator.task import Limits
from orchestrator.tools.desk import Desk
from orchestrator.tools.excerpt import Excerpt
from orchestrator.tools.parameters import (
    ArgumentsError,
    Parameter,
    derive,
    described,
    json_schema,
    parse,
)
from sandbox.box import Box
from sandbox.errors import DiskFullError, SandboxError
from sandbox.files import FileError
from sandbox.stream import Line

Category = Literal["read", "write", "execute"]
OUTPUT_LIMIT = 30_000
"""Characters of one result, unless a tool has its own limit."""


class ToolError(Exception):
    """The tool could not do what was asked; the message is meant for the model."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a call may use besides its arguments."""

    box: Box
    artifacts: Path
    """A folder on the host for texts that are too long for the model; the sandbox cannot see it."""
    label: str
    """Unique in the run; names this call's artifact."""
    until: float
    """`time.monotonic()` at which the run's time is up."""
    output: Callable[[Line], None]
    """Shows a line of a running command at once."""
    desk: Desk = field(default_factory=Desk)
    """What earlier calls left for later ones."""
    whole: Callable[[str], bool] = lambda text: True
    """Whether a result that is not over a tool's limit comes to the model as it is."""
    spent: Spent = field(default_factory=lambda: Spent.within(Limits()))
    """What the run has used so far; a call adds what it uses of it."""
    step: int = 0
    """The turn in which the call was made."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with what a model has to know to call it."""

    function: Callable[..., Any]
    """Returns a text; that of a `watched` tool is a generator of events, and returns one."""
    category: Category
    description: str
    parameters: tuple[Parameter, ...]
    limit: int = OUTPUT_LIMIT
    final: bool = False
    """True when a successful call says that the work is finished."""
    watched: bool = False
    """True when a call is work by itself, of which the run sees each event as it happens."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, self.description, json_schema(self.parameters))


def tool(
    function: Callable[..., Any],
    category: Category,
    *,
    limit: int = OUTPUT_LIMIT,
    final: bool = False,
    watched: bool = False,
) -> Tool:
    """Make a tool of a function `(context, **arguments) -> text` that raises ToolError.

    The docstring's `Args:` section describes every argument, one `name: text` each; what stands
    before it describes the tool. Raises TypeError when signature and docstring do not fit.
    """
    description, arguments = described(inspect.getdoc(function) or "")
    parameters = derive(function, arguments)
    return Tool(function, category, description, parameters, limit, final, watched)


def use(used: Tool, call: ToolCall, context: Context) -> ToolResult:
    """Carry out one call; whatever goes wrong is a result, only a SandboxError is raised."""
    with _keeping():
        try:
            arguments = parse(used.parameters, call.arguments)
            result = ToolResult(call.id, used.function(context, **arguments))
        except Exception as problem:
            result = _failure(used, call, problem)
        return replace(result, text=_bounded(used, well_formed(result.text), context))


def watch(used: Tool, call: ToolCall, context: Context) -> Generator[AnyEvent, None, ToolResult]:
    """As `use`, for a `watched` tool: what happens is told while it does."""
    with _keeping():
        try:
            arguments = parse(used.parameters, call.arguments)
            result = ToolResult(call.id, (yield from used.function(context, **arguments)))
        except Exception as problem:
            result = _failure(used, call, problem)
        return replace(result, text=_bounded(used, well_formed(result.text), context))


@contextmanager
def _keeping() -> Iterator[None]:
    """A tool touches the host only to keep artifacts: what fails there is a full disk."""
    try:
        yield
    except OSError as trouble:
        raise DiskFullError(f"Output cannot be kept: {trouble}; free some space.") from trouble


def _failure(used: Tool, call: ToolCall, problem: Exception) -> ToolResult:
    """The result of a call that failed; raises what is no result."""
    match problem:
        case SandboxError() | OSError():
            raise problem
        case ArgumentsError() | ToolError() | FileError():
            return ToolResult(call.id, str(problem), error=True)
    # A defect of ours costs this one call, not the work done so far.
    return ToolResult(call.id, f"{used.name} failed inside: {problem!r}", error=True)


def _bounded(used: Tool, text: str, context: Context) -> str:
    if len(text) <= used.limit:
        return text or "(no output)"
    excerpt = Excerpt(used.limit)
    excerpt.add(text)
    artifact = context.artifacts / f"{context.label}.txt"
    artifact.write_text(text, encoding="utf-8", newline="")
    return excerpt.text(artifact.name)
