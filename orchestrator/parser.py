"""The splitters in a process of their own: no file they read can hurt the one that holds the keys.

Grammars are C, and what a sandbox holds may be hostile. The process has no environment, writes no
file and is bounded in memory and time. When it dies or is late it is replaced, and that file is
taken for plain text.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any

import msgspec

import splitters
from splitters import TARGET, Declaration, Pieces, UnknownLanguageError
from splitters.frames import HEADER, head

LARGEST = 16 << 20
"""Bytes of a file that is worth parsing; a caller refuses a larger one."""
_ANSWER = 64 << 20
_START = 30.0
"""Seconds until it is ready: a loaded machine may be slow to start Python."""
_DYING = 1.0
"""Seconds that it may take to die once it does not listen any more."""
_NATURAL = 1 << 20
"""Bytes of a plain text that is cut at each paragraph: there can be one every two bytes."""
_FORGED = "the parser gave an answer that cannot be"
_PROGRAM = """\
import sys
sys.path[:] = sys.argv[3:]
from splitters.__main__ import main
main(sys.argv[1:3])"""
"""By our own import path: `-I`, which keeps the environment out of it, drops more than that."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the process may use."""

    seconds: float = 10.0
    """For one file."""
    memory: int = 2 << 30
    """Bytes of its address space."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A file in pieces."""

    pieces: Pieces
    trouble: str = ""
    """Why they are those of a plain text although its language is known; else empty."""


@dataclass(frozen=True, slots=True)
class Outlined:
    """The declarations of a file."""

    language: str
    """`text`: none that is known."""
    declarations: tuple[Declaration, ...]
    trouble: str = ""
    """Why there are none although the language is known; else empty."""


class _LostError(Exception):
    """There is no answer, and why."""


class _DiedError(_LostError):
    """The process ended before it answered."""


class Parser:
    """Asks the process, which is started for the first file; any thread may ask."""

    def __init__(self, bounds: Bounds | None = None, program: str = _PROGRAM) -> None:
        """`program` is Python that gets memory, seconds and our import path as arguments."""
        self._bounds = bounds or Bounds()
        self._program = program
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line = socket.socket()
        self._line.close()
        self._answers = 0

    def __enter__(self) -> "Parser":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._end()

    @property
    def process(self) -> int | None:
        """The id of the process while there is one."""
        return self._process.pid if self._process else None

    def split(
        self,
        data: bytes,
        path: str = "",
        *,
        language: str | None = None,
        target: int = TARGET,
        natural: bool = False,
    ) -> Parted:
        """Cut a file as `splitters.split` does; without `language` it is told by path and content.

        Raises UnknownLanguageError.
        """
        question = {"op": "split", "path": path, "language": language}
        try:
            said = self._ask({**question, "target": target, "natural": natural}, data)
            return Parted(_pieces(said, data, target))
        except _LostError as lost:
            natural = natural and len(data) <= _NATURAL
            pieces = splitters.split(data, None, target, natural)
            return Parted(pieces, f"{lost}; the file is cut as plain text")

    def outline(self, data: bytes, path: str = "", *, language: str | None = None) -> Outlined:
        """The declarations of a file, the language as in `split`.

        Raises UnknownLanguageError.
        """
        try:
            said = self._ask({"op": "outline", "path": path, "language": language}, data)
            return _outlined(said)
        except _LostError as lost:
            return Outlined("text", (), f"{lost}; the file is taken for plain text")

    def _ask(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        with self._lock:
            said = self._answered(question, data)
        if "unknown" in said:
            raise UnknownLanguageError(said["unknown"])
        if "failed" in said:
            raise _LostError(said["failed"])
        return said

    def _answered(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        """An answer. Where earlier files may have worn the process out, a fresh one tries again."""
        worn = self._answers > 0
        try:
            return self._exchanged(question, data)
        except _DiedError:
            if not worn:
                raise
            return self._exchanged(question, data)

    def _exchanged(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        try:
            if self._process is None:
                self._start()
            until = monotonic() + self._bounds.seconds
            self._send(head(question, len(data)), until)
            self._send(data, until)
            said = self._received(until)
            self._answers += 1
            return said
        except TimeoutError:
            self._end()
            raise _LostError(f"the parser took more than {self._bounds.seconds:g} s") from None
        except (OSError, EOFError):
            raise _DiedError(f"the parser {self._fate()}") from None
        except BaseException:
            self._end()  # what it says next would answer the wrong question
            raise

    def _start(self) -> None:
        self._line, theirs = socket.socketpair()
        limits = (str(self._bounds.memory), str(int(self._bounds.seconds) + 1))
        ours = [folder for folder in sys.path if folder]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", self._program, *limits, *ours],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        self._answers = 0
        self._received(monotonic() + _START)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._line.close()
        if process and process.poll() is None:  # not waited for: the id is still its own
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _fate(self) -> str:
        """How the process came to its end, in words that go after `the parser`."""
        process = self._process
        if process is None:
            return "could not be started"
        try:
            ended = process.wait(_DYING)
        except subprocess.TimeoutExpired:
            ended = None
        self._end()
        if ended is None:
            return "was disturbed"
        if ended >= 0:
            return f"ended with status {ended}"
        return f"was ended by {signal.Signals(-ended).name}"

    def _send(self, content: bytes, until: float) -> None:
        self._line.settimeout(_left(until))
        self._line.sendall(content)

    def _received(self, until: float) -> dict[str, Any]:
        size, _ = HEADER.unpack(self._bytes(HEADER.size, until))
        if size > _ANSWER:
            raise EOFError
        try:
            return msgspec.json.decode(self._bytes(size, until), type=dict[str, Any])
        except msgspec.MsgspecError:
            raise EOFError from None

    def _bytes(self, size: int, until: float) -> bytes:
        found = bytearray()
        while len(found) < size:
            self._line.settimeout(_left(until))
            piece = self._line.recv(min(size - len(found), 1 << 20))
            if not piece:
                raise EOFError
            found += piece
        return bytes(found)


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _pieces(said: dict[str, Any], data: bytes, target: int) -> Pieces:
    """The answer as a value, if it is one that `split` can have given: it may be forged."""
    try:
        found = msgspec.convert({**said, "data": data}, Pieces, builtin_types=(bytes,))
    except msgspec.ValidationError:
        raise _LostError(_FORGED) from None
    end = 0
    for number, piece in enumerate(found.pieces, 1):
        whole = piece.number == number and piece.start == end and piece.size <= target
        if not whole or sha256(found.content(piece)).hexdigest() != piece.sha256:
            raise _LostError(_FORGED)
        end = piece.end
    if end != len(data) or not found.pieces:
        raise _LostError(_FORGED)
    return found


def _outlined(said: dict[str, Any]) -> Outlined:
    try:
        rows = msgspec.convert(said["declarations"], list[dict[str, Any]])
        return Outlined(str(said["language"]), _nested(rows))
    except (KeyError, msgspec.ValidationError):
        raise _LostError(_FORGED) from None


def _nested(rows: list[dict[str, Any]]) -> tuple[Declaration, ...]:
    """Rows in the order of the file, each with its depth, as declarations inside each other."""
    found: dict[int, list[Declaration]] = {}
    for row in reversed(rows):
        depth = msgspec.convert(row.pop("depth"), int)
        inside = tuple(reversed(found.pop(depth + 1, ())))
        one = msgspec.convert({**row, "children": ()}, Declaration)
        found.setdefault(depth, []).append(replace(one, children=inside))
    return tuple(reversed(found.get(0, ())))
