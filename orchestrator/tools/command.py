"""The tool that runs a command, and the one that says the work is finished."""

import signal
import time
from collections.abc import Callable, Iterator

from orchestrator.tools.excerpt import Excerpt
from orchestrator.tools.tool import OUTPUT_LIMIT, Context, ToolError
from sandbox.errors import SandboxLostError
from sandbox.limits import Limits, shown
from sandbox.stream import Exit, Line

_LONGEST = 600
_SHOWN = 20_000
"""Lines of a command that are shown as they come: `yes` prints ten million in two seconds, which
nobody reads, and showing them took half a minute."""
_STATUS = 200
"""Characters kept free for the line that tells how a command ended."""
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ
# In one stream the output keeps its order; two are read as they come, another time in another one.
_ANY_SHELL = """\
exec 2>&1
for shell in bash sh; do command -v $shell >/dev/null && exec $shell -c "$0"; done
exec /opt/orchestrator/bin/busybox sh -c "$0\""""


def shell(command: str) -> tuple[str, ...]:
    """The arguments that run a command line with the image's bash, its sh, or the toolbox's."""
    return ("/opt/orchestrator/bin/busybox", "sh", "-c", _ANY_SHELL, command)


def follow(stream: Iterator[Line | Exit], excerpt: Excerpt, show: Callable[[Line], None]) -> Exit:
    """Watch a command to its end, showing its first lines and keeping the excerpt."""
    for number, item in enumerate(stream):
        if isinstance(item, Exit):
            return item
        if number < _SHOWN:
            show(item)
        excerpt.add(item.text + "\n")
    raise SandboxLostError("The sandbox stopped answering; start the run again.")


def status_line(ended: Exit, limits: Limits) -> str:
    """How a command ended, as one line for a person."""
    if ended.timed_out:
        return f"[time limit: ended after {ended.seconds:.1f} s, with all it had started]"
    reached = limit_reached(ended, limits)
    return f"[exit status {ended.status}{reached and f': {reached}'}, {ended.seconds:.1f} s]"


def limit_reached(ended: Exit, limits: Limits) -> str:
    """The limit of the sandbox that ended a command, in words; empty when none did."""
    if ended.out_of_memory:
        return f"out of memory (limit {shown(limits.memory)})"
    if ended.status == _FILE_TOO_LARGE:
        return f"a file became too large (limit {shown(limits.file_size)})"
    return ""


def _ending(ended: Exit, limit: float, limits: Limits) -> str:
    """How a command ended, for a model: the same for the same command, however long it took."""
    if ended.timed_out:
        return f"[time limit: ended after {round(limit, 1):g} s, with all it had started]"
    reached = limit_reached(ended, limits)
    return f"[exit status {ended.status}{reached and f': {reached}'}]"


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
    report = f"{excerpt.text(artifact.name)}{_ending(ended, limit, context.box.limits)}"
    if not ended.ok:
        raise ToolError(report)
    return report


def finish(context: Context, message: str) -> str:
    """Say that the task is finished; call it last, when nothing is left to do.

    Args:
        message: What was done and what the person who asked should know.
    """
    return message
