"""The tool that runs a command, and the one that says the work is finished."""

import time
from collections.abc import Callable, Iterator

from orchestrator.tools.excerpt import Excerpt
from orchestrator.tools.tool import OUTPUT_LIMIT, Context, ToolError
from sandbox.errors import SandboxLostError
from sandbox.stream import Exit, Line

_LONGEST = 600
_STATUS = 200
"""Characters kept free for the line that tells how a command ended."""
# In one stream the output keeps its order; two are read as they come, another time in another one.
_ANY_SHELL = """\
exec 2>&1
for shell in bash sh; do command -v $shell >/dev/null && exec $shell -c "$0"; done
exec /opt/orchestrator/bin/busybox sh -c "$0\""""


def shell(command: str) -> tuple[str, ...]:
    """The arguments that run a command line with the image's bash, its sh, or the toolbox's."""
    return ("/opt/orchestrator/bin/busybox", "sh", "-c", _ANY_SHELL, command)


def follow(stream: Iterator[Line | Exit], excerpt: Excerpt, show: Callable[[Line], None]) -> Exit:
    """Watch a command to its end, showing every line and keeping the excerpt."""
    for item in stream:
        if isinstance(item, Exit):
            return item
        show(item)
        excerpt.add(item.text + "\n")
    raise SandboxLostError("The sandbox stopped answering; start the run again.")


def status_line(ended: Exit) -> str:
    """How a command ended, as one line for a person."""
    if ended.timed_out:
        return f"[time limit: ended after {ended.seconds:.1f} s, with all it had started]"
    return f"[exit status {ended.status}, {ended.seconds:.1f} s]"


def _ending(ended: Exit, limit: float) -> str:
    """How a command ended, for a model: the same for the same command, however long it took."""
    if ended.timed_out:
        return f"[time limit: ended after {limit:g} s, with all it had started]"
    return f"[exit status {ended.status}]"


def bash(context: Context, command: str, seconds: int = 120) -> str:
    """Run a shell command in /workspace and return what it printed and its exit status.

    Each call starts in /workspace with a fresh shell; there is no terminal and no input.

    Args:
        command: The command line, for bash where the image has it, otherwise for sh.
        seconds: Its time limit, at most 600; then the command and all it started are ended.
    """
    if not 1 <= seconds <= _LONGEST:
        raise ToolError(f"seconds: expected 1 to {_LONGEST}, got {seconds}")
    if "\0" in command:
        raise ToolError("command: a NUL character cannot be part of a command line")
    artifact = context.artifacts / f"{context.label}.txt"
    excerpt = Excerpt(OUTPUT_LIMIT - _STATUS)
    limit = min(float(seconds), max(1.0, context.until - time.monotonic()))
    with artifact.open("xb") as keep:
        lines = context.box.stream(shell(command), seconds=limit, keep=keep)
        ended = follow(lines, excerpt, context.output)
    if not excerpt.cut:
        artifact.unlink()
    report = f"{excerpt.text(artifact.name)}{_ending(ended, limit)}"
    if not ended.ok:
        raise ToolError(report)
    return report


def finish(context: Context, message: str) -> str:
    """Say that the task is finished; call it last, when nothing is left to do.

    Args:
        message: What was done and what the person who asked should know.
    """
    return message
