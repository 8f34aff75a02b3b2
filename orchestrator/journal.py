"""A run's memory: the append-only file of its events, one JSON object a line.

Each line is the event with `seq`, its line number, and `time`, in Unix seconds.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator.events import (
    AnyEvent,
    Approved,
    Changed,
    CheckFinished,
    Delivered,
    Judged,
    Merged,
    Output,
    RunFinished,
    RunStarted,
    Text,
    Warned,
    WorkerFinished,
)

_PASSING = (Text, Output)
"""Shown while they happen, then forgotten: turns and artifacts keep their contents."""

_LASTING = (RunStarted, Changed, Judged, Delivered, Approved, Merged, RunFinished)
"""What a power cut must not take back once it was told; fsync costs some milliseconds each."""

_ALWAYS = (*_LASTING, CheckFinished, WorkerFinished)
"""What the host found, and how the work ended; all else comes as often as a sandbox likes."""

LIMIT = 256 << 20
"""Bytes of a journal; beyond them only `_ALWAYS` is written."""
FULL = "the journal is full: from here on it has only changes, checks and the end"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a journal."""

    seq: int
    time: float
    """Unix seconds."""
    event: AnyEvent


class _Stamp(Struct):
    time: float
    kind: str


_stamp = msgspec.json.Decoder(_Stamp)
_event: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class Journal:
    """Writes a journal, at its end. Raises OSError when the disk is full."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        before = path.read_bytes() if path.exists() else b""
        self._file = path.open("ab", buffering=0)
        if before and not before.endswith(b"\n"):
            # A writer died within a line: without a newline it would swallow the next one.
            self._append(b"\n")
            before += b"\n"
        self._seq = before.count(b"\n")
        self._size, self._limit = len(before), limit
        self._full = False

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, event: AnyEvent) -> None:
        """Append an event, unless it is of a passing kind, or the journal is full."""
        if isinstance(event, _PASSING):
            return
        line = _line(self._seq + 1, event)
        if not isinstance(event, _ALWAYS) and self._size + len(line) > self._limit:
            if self._full:
                return
            self._full = True
            line = _line(self._seq + 1, Warned(text=FULL))
        self._append(line)
        self._seq += 1
        self._size += len(line)
        if isinstance(event, _LASTING):
            os.fsync(self._file.fileno())

    def _append(self, line: bytes) -> None:
        """One write for a line, so that a reader of a live run seldom sees a part of it."""
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]


def read(path: Path) -> Iterator[Entry]:
    """The entries of a journal; none when there is no file yet.

    A torn last line is skipped. A line that cannot be read, or an event of a kind this version
    does not know, comes as `Warned`.
    """
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()
    for seq, line in enumerate(lines, 1):
        yield _entry(seq, line)
    if last and _is_whole(last):
        yield _entry(len(lines) + 1, last)


def follow(path: Path, lives: Callable[[], bool], *, pause: float = 0.2) -> Iterator[Entry]:
    """The entries of a journal as they are written, until its writer no longer lives.

    `pause` is in seconds, between two looks at the file.
    """
    seq, rest = 0, b""
    with path.open("rb") as file:
        while True:
            alive = lives()  # asked first: what was written before the end is still read
            *lines, rest = (rest + file.read()).split(b"\n")
            for line in lines:
                seq += 1
                yield _entry(seq, line)
            if not alive:
                return
            if not lines:
                time.sleep(pause)


def _line(seq: int, event: AnyEvent) -> bytes:
    stamp = b'{"seq":%d,"time":%.3f,' % (seq, time.time())
    try:
        text = msgspec.json.encode(event)
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can say and UTF-8 cannot
        builtins = msgspec.to_builtins(event)
        text = json.dumps(builtins, ensure_ascii=False).encode("utf-8", "replace")
    return stamp + text.lstrip()[1:] + b"\n"


def _entry(seq: int, line: bytes) -> Entry:
    try:
        stamp = _stamp.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Entry(seq, 0.0, Warned(text=f"line {seq} of the journal is damaged"))
    try:
        return Entry(seq, stamp.time, _event.decode(line))
    except msgspec.ValidationError:
        text = f"line {seq} of the journal is unknown to this version: {stamp.kind}"
        return Entry(seq, stamp.time, Warned(text=text))


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True
