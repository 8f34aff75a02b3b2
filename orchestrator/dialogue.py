"""A conversation that outlives its runs: one JSON object a line, only ever appended to.

The first line says whose it is (`id`, `created`); every other one is a message, or names the run
that the messages after it belong to. No line is taken back: what is too long for the next run is
left out of what that run's model sees.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from orchestrator import whole
from orchestrator.earlier import fitted, mended
from orchestrator.models.model import (
    Answer,
    AnswerStop,
    Message,
    Prompt,
    Results,
    ToolCall,
    ToolResult,
)
from orchestrator.pricing import Usage

OWN = "conversation.jsonl"
"""The file of a conversation that is nobody's but its run's."""


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line; which fields it has depends on its role."""

    role: Literal["meta", "run", "user", "assistant", "tool"]
    ts: float = 0.0
    """Unix seconds."""
    id: str = ""
    created: float = 0.0
    run: str = ""
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    model: str = ""
    stop: AnswerStop = "complete"
    usage: Usage = Usage(0, 0)
    echo: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """All that a conversation holds."""

    messages: tuple[Message, ...] = ()
    """Well formed for every model: no call without its result, no result without its call."""
    runs: tuple[str, ...] = ()
    """The ids of its runs, the oldest first."""
    damaged: int = 0
    """Lines that cannot be read."""


class Dialogue:
    """One conversation while a run goes on with it; without a file of its own, one of the run's."""

    def __init__(self, messages: Sequence[Message], path: Path | None = None, id: str = "") -> None:
        self.earlier: tuple[Message, ...] = ()
        """What the run begins with, once it has begun."""
        self._messages = messages
        self._path = path
        self._id = id

    def begin(self, run: str, model: str, copy: Path) -> str:
        """A run of this model begins; `copy` gets what it begins with, so that it can be replayed.

        What is said from now on goes beside that, where the conversation has no file. Returns
        what a person should know of it, as a sentence; often nothing.
        """
        self.earlier, said = fitted(self._messages, model)
        lines = (_line(message) for message in self.earlier)
        whole.write(copy, b"".join(map(_encoded, lines)))
        self._path = self._path or copy.with_name(OWN)
        if not self._path.exists():
            self._append(Line(role="meta", id=self._id or run, created=time.time()))
            whole.sync(self._path.parent)
        self._append(Line(role="run", ts=time.time(), run=run))
        return said

    def keep(self, message: Message) -> None:
        """Append a message, on disk before this returns."""
        self._append(_line(message))

    def _append(self, line: Line) -> None:
        if self._path is not None:
            append(self._path, line)


def append(path: Path, line: Line) -> None:
    """Add a line, on disk before this returns; one that a killed writer left torn is ended."""
    with path.open("a+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        torn = file.read(1) not in (b"", b"\n")
        rest = memoryview(b"\n" * torn + _encoded(line))
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def read(path: Path) -> Told:
    """All that was said; a torn last line is skipped, a damaged one counted."""
    *lines, torn = path.read_bytes().split(b"\n")
    found = [_decoded(line) for line in lines if line]
    if last := _decoded(torn):
        found.append(last)
    kept = [line for line in found if line is not None]
    return Told(
        messages=tuple(mended([_message(line) for line in kept if line.role not in _ASIDE])),
        runs=tuple(line.run for line in kept if line.role == "run"),
        damaged=len(found) - len(kept),
    )


_ASIDE = ("meta", "run")


def _line(message: Message) -> Line:
    now = time.time()
    match message:
        case Prompt(text):
            return Line(role="user", ts=now, content=text)
        case Results(results):
            return Line(role="tool", ts=now, results=results)
        case Answer():
            return Line(
                role="assistant",
                ts=now,
                content=message.text,
                tool_calls=message.calls,
                model=message.model,
                stop=message.stop,
                usage=message.usage,
                echo=message.echo,
            )


def _message(line: Line) -> Message:
    match line.role:
        case "user":
            return Prompt(line.content)
        case "tool":
            return Results(line.results)
    return Answer(
        line.content, line.tool_calls, line.usage, line.stop, echo=line.echo, model=line.model
    )


def _encoded(line: Line) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def _decoded(line: bytes) -> Line | None:
    try:
        return msgspec.json.decode(line, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
