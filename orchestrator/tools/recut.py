"""A file after edits of its pieces, and how it is cut now.

A piece that nobody edited keeps its cuts, so what a model knows of it stays true. Only what was
edited is parsed again, by itself: the cost of an edit is that of its piece, not of the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from orchestrator.parser import Parser
from orchestrator.tools.desk import Cut
from orchestrator.tools.edited import Script
from splitters import Piece

_OWN = re.compile(r"[^.:#/]*\Z")
"""The last part of a qualified name, whatever joins the parts in its language."""


@dataclass(frozen=True, slots=True)
class Recut:
    """The file as it is to be written."""

    content: bytes
    cut: Cut
    fresh: frozenset[int]
    """The numbers of the pieces that are not as they were; of one that is gone, of the next."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What became of one piece."""

    was: Piece
    content: bytes
    pieces: tuple[Piece, ...]
    """Counted from its own start: byte 0, line 1. None of them: it is gone."""
    edited: bool


def recut(
    parser: Parser, path: str, cut: Cut, content: bytes, changed: Mapping[int, bytes]
) -> Recut:
    """Put new contents, by the numbers of their pieces, into a file that is cut so."""
    parts = list(_parts(parser, path, cut, content, changed))
    after = b"".join(part.content for part in parts)
    pieces: list[Piece] = []
    shown: set[tuple[int, str]] = set()
    fresh: set[int] = set()
    script, start, line = Script.of(content), 0, 1
    for part in parts:
        first = len(pieces) + 1
        pieces += (_placed(piece, first + n, start, line) for n, piece in enumerate(part.pieces))
        same = first == part.was.number and len(part.pieces) == 1
        if same and (first, part.was.sha256) in cut.shown:
            shown.add((first, pieces[-1].sha256))
        if part.edited:
            fresh.update(range(first, first + max(1, len(part.pieces))))
        start += len(part.content)
        line += script.breaks(part.content)
    pieces = pieces or list(parser.split(b"", path, language=cut.language).pieces.pieces)
    now = Cut(sha256(after).hexdigest(), cut.language, cut.target, tuple(pieces), shown)
    return Recut(after, now, frozenset(fresh))


def _parts(
    parser: Parser, path: str, cut: Cut, content: bytes, changed: Mapping[int, bytes]
) -> Iterator[_Part]:
    for old in cut.pieces:
        new = changed.get(old.number)
        if new is None:
            lines = old.last_line - old.first_line + 1
            kept = replace(old, start=0, end=old.size, first_line=1, last_line=lines)
            yield _Part(old, content[old.start : old.end], (kept,), False)
        elif not new:
            yield _Part(old, new, (), True)
        else:
            parted = parser.split(new, path, language=cut.language, target=cut.target)
            pieces = tuple(_inside(piece, new, old) for piece in parted.pieces.pieces)
            yield _Part(old, new, pieces, True)


def _inside(piece: Piece, content: bytes, old: Piece) -> Piece:
    """A piece of what was parsed by itself, named as a part of where it stands."""
    own = _OWN.search(old.name)[0]  # type: ignore[index]  # it may be empty
    if not piece.name and own.encode() in content:
        return replace(piece, kind=old.kind, name=old.name, parent=old.parent)
    if not piece.name or not old.parent:
        return piece
    before = old.name.removesuffix(own)
    return replace(
        piece,
        kind=old.kind if piece.kind == "function" else piece.kind,
        name=before + piece.name,
        parent=before + piece.parent if piece.parent else old.parent,
        names=tuple(before + name for name in piece.names),
    )


def _placed(piece: Piece, number: int, start: int, line: int) -> Piece:
    """A piece where its part begins at this byte and this line."""
    return replace(
        piece,
        number=number,
        start=piece.start + start,
        end=piece.end + start,
        first_line=piece.first_line + line - 1,
        last_line=piece.last_line + line - 1,
    )
