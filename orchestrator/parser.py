"""The splitters in a process of their own: no file they read can hurt the one that holds the keys.

Grammars are C, and what a sandbox holds may be hostile. The process has no environment, can open
neither files nor connections, and is bounded in memory and time. When it dies or is late it is
replaced, and that file is taken for plain text.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

import msgspec

import splitters
from orchestrator.child import Child, DiedError
from orchestrator.coarse import cut
from splitters import TARGET, Declaration, Pieces, UnknownLanguageError
from splitters.map import Glance

LARGEST = 16 << 20
"""Bytes of a file that is worth parsing; a caller refuses a larger one."""
_DEPTH = 64
_SMALL = 1 << 20
"""Bytes; in a larger text paragraphs are not looked for, which may take a second a MiB."""
_LANGUAGES = {"text", *(language.name for language in splitters.LANGUAGES)}
_FORGED = "the parser gave an answer that cannot be"
_PARTIAL = "not all of its declarations are listed: it is nested too deep, or too odd"
_PROGRAM = """\
import sys
sys.path[:] = sys.argv[3:]
from splitters.__main__ import main
main(sys.argv[1:3])"""
"""By our own import path, which is more than what an isolated Python finds by itself."""


Kind = TypeVar("Kind")


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
    """Why there are none although the language is known, or not all of them; else empty."""


class _LostError(Exception):
    """There is no answer, and why."""


class Parser:
    """Asks the process, which is started for the first file; any thread may ask."""

    def __init__(self, bounds: Bounds | None = None, program: str = _PROGRAM) -> None:
        """`program` is as in `Child`; it gets the memory and the seconds before the path."""
        self._bounds = bounds or Bounds()
        self._program = program
        self._lock = Lock()
        self._child: Child | None = None

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
            if self._child:
                self._child.end()
            self._child = None

    @property
    def process(self) -> int | None:
        """The id of the process while there is one."""
        return self._child.id if self._child else None

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
            return Parted(_pieces(said, data, target, natural))
        except _LostError as lost:
            quick = len(data) > _SMALL
            text = cut(data, target) if quick else splitters.split(data, None, target, natural)
            return Parted(text, f"{lost}; the file is cut as plain text")

    def outline(self, data: bytes, path: str = "", *, language: str | None = None) -> Outlined:
        """The declarations of a file, the language as in `split`.

        Raises UnknownLanguageError.
        """
        question = {"op": "outline", "path": path, "language": language}
        try:
            said = self._ask({**question, "depth": _DEPTH, "words": False}, data)
            return _outlined(said)
        except _LostError as lost:
            return Outlined("text", (), f"{lost}; the file is taken for plain text")

    def glance(self, data: bytes, path: str) -> Glance:
        """What a map of a repository needs to know of a file."""
        question = {"op": "outline", "path": path, "language": None, "depth": 1, "words": True}
        try:
            said = self._ask(question, data)
            outlined = _outlined(said)
            words = frozenset(map(sys.intern, _converted(said.get("words"), list[str])))
            return Glance(path, outlined.declarations, words)
        except _LostError:
            return Glance(path, (), frozenset())

    def _ask(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        try:
            with self._lock:
                said = self._answered(question, data)
        except TimeoutError:
            raise _LostError(f"the parser took more than {self._bounds.seconds:g} s") from None
        except DiedError as died:
            raise _LostError(f"the parser {died}") from None
        if "unknown" in said:
            raise UnknownLanguageError(str(said["unknown"]))
        if "failed" in said:
            raise _LostError(str(said["failed"]))
        return said

    def _answered(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        """An answer. Where earlier files may have worn the process out, a fresh one tries again."""
        worn = self._child is not None and self._child.answered > 0
        try:
            return self._exchanged(question, data)
        except DiedError:
            if not worn:
                raise
            return self._exchanged(question, data)

    def _exchanged(self, question: Mapping[str, object], data: bytes) -> dict[str, Any]:
        # Until it has answered it is nobody's: after an exception there is none.
        child, self._child = self._child, None
        if child is None:
            limits = (str(self._bounds.memory), str(ceil(self._bounds.seconds)))
            child = Child(self._program, limits)
        said = child.ask(question, data, self._bounds.seconds)
        self._child = child
        return said


def _pieces(said: dict[str, Any], data: bytes, target: int, natural: bool) -> Pieces:
    """The answer as a value, if it is one that `split` can have given: it may be forged."""
    found = _converted({**said, "data": data}, Pieces)
    end = 0
    if (found.target, found.natural) != (target, natural) or found.language not in _LANGUAGES:
        raise _LostError(_FORGED)
    for number, piece in enumerate(found.pieces, 1):
        whole = piece.number == number and piece.start == end
        whole = whole and (0 < piece.size <= target or not data)
        if not whole or sha256(found.content(piece)).hexdigest() != piece.sha256:
            raise _LostError(_FORGED)
        end = piece.end
    if end != len(data) or not found.pieces:
        raise _LostError(_FORGED)
    return found


def _outlined(said: dict[str, Any]) -> Outlined:
    rows = _converted(said.get("declarations"), list[dict[str, Any]])
    whole = _converted(said.get("whole"), bool)
    language = _converted(said.get("language"), str)
    return Outlined(language, _nested(rows), "" if whole else _PARTIAL)


def _nested(rows: list[dict[str, Any]]) -> tuple[Declaration, ...]:
    """Rows in the order of the file, each with its depth, as declarations inside each other."""
    found: dict[int, list[Declaration]] = {}
    for row in reversed(rows):
        depth = _converted(row.pop("depth", None), int)
        if not 0 <= depth <= _DEPTH:
            raise _LostError(_FORGED)
        inside = tuple(reversed(found.pop(depth + 1, ())))
        one = _converted({**row, "children": ()}, Declaration)
        found.setdefault(depth, []).append(replace(one, children=inside))
    return tuple(reversed(found.get(0, ())))


def _converted(value: object, kind: type[Kind]) -> Kind:
    try:
        return msgspec.convert(value, kind, builtin_types=(bytes,))
    except msgspec.ValidationError:
        raise _LostError(_FORGED) from None
