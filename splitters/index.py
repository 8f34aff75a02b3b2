"""The index of a file's pieces: what `index.json` says, read strictly and written plainly."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import PurePath
from typing import Any, TypeVar

from splitters.form import encoding, line_ending
from splitters.piece import Piece, Pieces

SCHEMA = 1
"""Of what is written here; another one is refused."""
NAME = "index.json"
_LONGEST = 255
"""Bytes of a file's name on the usual file systems."""
_SHORT = {
    "text": "txt",
    "markdown": "md",
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "tsx": "ts",
    "rust": "rs",
    "c": "cpp",
    "html": "xml",
}
"""Languages by the names that `split_type` has for them; any other is called as it is."""


class BadIndexError(ValueError):
    """An index that cannot be relied upon; the message is one sentence."""


class UnreadableError(BadIndexError):
    """A part of it may not be read; the message begins with the name of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One piece: where it is in the source, and the file it is in."""

    segment_index: int
    """From 1."""
    start_line_num: int
    end_line_num: int
    start_byte: int
    end_byte: int
    """The first byte after it."""
    path: str
    """Absolute; beside the index, and named after the source."""
    sha256: str
    """Of its bytes when it was cut: a file that has another one was edited."""
    kind: str
    name: str
    parent: str
    names: tuple[str, ...]
    """Qualified, of what is declared in it."""
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """A file and its pieces, which cover it without a gap."""

    schema: int = SCHEMA
    source_path: str
    """Absolute, without symbolic links."""
    source_sha256: str
    source_size_bytes: int
    source_line_count: int
    split_type: str
    language: str
    """A name of `LANGUAGES`, or `text`."""
    target_bytes: int
    natural: bool
    encoding: str
    line_ending: str
    """`lf`, `crlf`, `cr`, `mixed` or `none`."""
    created_at: str
    """UTC, as in 2026-01-31T12:00:00Z."""
    segment_count: int
    segments: tuple[Segment, ...]
    summary: str | None = None
    seal: str = ""
    """Whoever wrote it may sign it here; the rest is what is signed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The files of the pieces, in order."""
        return tuple(segment.path.rpartition("/")[2] for segment in self.segments)


def of(cut: Pieces, source: str, folder: str, created_at: str) -> Index:
    """The index of a file that was cut; nothing is written."""
    return Index(
        source_path=source,
        source_sha256=sha256(cut.data).hexdigest(),
        source_size_bytes=len(cut.data),
        source_line_count=cut.pieces[-1].last_line,
        split_type=_SHORT.get(cut.language, cut.language),
        language=cut.language,
        target_bytes=cut.target,
        natural=cut.natural,
        encoding=encoding(cut.data),
        line_ending=line_ending(cut.data),
        created_at=created_at,
        segment_count=len(cut.pieces),
        segments=tuple(_segment(piece, source, folder) for piece in cut.pieces),
    )


def file_name(source: str, number: int) -> str:
    """What the file of a piece is called: `notes-0001.txt`; a name that is too long is cut."""
    path = PurePath(source)
    tail = f"-{number:04d}{path.suffix}"
    room = _LONGEST - len(tail.encode())
    if room < 1:  # all of the name is suffix
        return f"{number:04d}"
    return path.stem.encode()[:room].decode("utf-8", "ignore") + tail


def encode(index: Index) -> bytes:
    """The JSON of an index."""
    return json.dumps(as_object(index), indent=2, ensure_ascii=False).encode() + b"\n"


def as_object(index: Index) -> dict[str, Any]:
    """An index as JSON has it; a summary only where there is one."""
    return _plain(index) | {"segments": [_plain(segment) for segment in index.segments]}


def decode(content: bytes, folder: str) -> Index:
    """Read the `index.json` of a folder. Raises BadIndexError for whatever is not as written here.

    Pieces tile the source, and their files lie in that folder under names that follow from the
    source's: an index cannot lead to any other file.
    """
    try:
        value = json.loads(content)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise BadIndexError(f"it is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadIndexError("it is no JSON object")
    if value.get("schema") != SCHEMA:
        raise BadIndexError(f"its schema is {value.get('schema')!r}, and {SCHEMA} is understood")
    listed = value.get("segments")
    if not isinstance(listed, list):
        raise BadIndexError("segments is no array")
    segments = tuple(
        _read(Segment, _with_names(one), f"segment {number}: ")
        for number, one in enumerate(listed, 1)
    )
    index = _read(Index, value | {"segments": segments}, "")
    problem = _problem(index, folder)
    if problem:
        raise BadIndexError(problem)
    return index


def _segment(piece: Piece, source: str, folder: str) -> Segment:
    return Segment(
        segment_index=piece.number,
        start_line_num=piece.first_line,
        end_line_num=piece.last_line,
        start_byte=piece.start,
        end_byte=piece.end,
        path=f"{folder}/{file_name(source, piece.number)}",
        sha256=piece.sha256,
        kind=piece.kind,
        name=piece.name,
        parent=piece.parent,
        names=piece.names,
    )


def _plain(value: Index | Segment) -> dict[str, Any]:
    pairs = ((key, getattr(value, key)) for key in _KEYS[type(value)])
    return {key: one for key, one in pairs if key != "summary" or one is not None}


def _with_names(value: object) -> object:
    """A segment whose array of names is a tuple, if it is one of strings."""
    names = value.get("names") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(names, list):
        return value
    return value | {"names": tuple(names) if all(isinstance(n, str) for n in names) else names}


V = TypeVar("V", Index, Segment)

_TYPES = {
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "str | None": (str, type(None)),
    "tuple": (tuple,),
}


_KEYS: dict[type[Index] | type[Segment], dict[str, str]] = {
    kind: {field.name: str(getattr(field.type, "__name__", field.type)) for field in fields(kind)}
    for kind in (Index, Segment)
}


def _read(kind: type[V], value: object, where: str) -> V:
    if not isinstance(value, Mapping):
        raise BadIndexError(f"{where}it is no JSON object")
    known = _KEYS[kind]
    for name in value:
        if name not in known:
            raise BadIndexError(f"{where}the key {name!r} is not known")
    for name, type_name in known.items():
        if name not in value and name not in ("summary", "seal"):
            raise BadIndexError(f"{where}the key {name!r} is missing")
        one = value.get(name, "" if name == "seal" else None)
        if type(one) not in _TYPES[type_name] or (type_name == "int" and one < 0):
            raise BadIndexError(f"{where}{name} cannot be {one!r}"[:200])
    return kind(**value)


def _problem(index: Index, folder: str) -> str:
    """What is wrong with an index whose keys and types are right; empty: nothing."""
    if not index.source_path.startswith("/") or "\0" in index.source_path:
        return f"source_path is {index.source_path!r}, which is not absolute"
    if index.target_bytes < 1:
        return f"target_bytes is {index.target_bytes}"
    for digest in (index.source_sha256, *(each.sha256 for each in index.segments)):
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            return f"{digest!r} is no SHA-256"
    if index.segment_count != len(index.segments) or not index.segments:
        return f"segment_count is {index.segment_count}, and {len(index.segments)} are listed"
    return _uncovered(index) or _astray(index, folder)


def _uncovered(index: Index) -> str:
    end = 0
    for segment in index.segments:
        if segment.start_byte != end or segment.end_byte < end:
            return f"its segments do not cover the source: nothing follows on byte {end}"
        end = segment.end_byte
    if end != index.source_size_bytes:
        return f"its segments end at byte {end}, and the source at {index.source_size_bytes}"
    return ""


def _astray(index: Index, folder: str) -> str:
    for number, segment in enumerate(index.segments, 1):
        if segment.segment_index != number:
            return f"segment {number} has the number {segment.segment_index}"
        expected = f"{folder}/{file_name(index.source_path, number)}"
        if segment.path != expected:
            return f"segment {number} is {segment.path!r}, and its place is {expected!r}"
    return ""
