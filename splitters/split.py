"""Cutting a file into pieces: the straight line of this package."""

from collections.abc import Iterator
from hashlib import sha256

from splitters.declared import declared
from splitters.language import Language
from splitters.packing import packed
from splitters.piece import Piece, Pieces
from splitters.syntax import Node, parse
from splitters.table import BY_NAME
from splitters.unit import Unit, paragraphs
from splitters.units import units

TARGET = 32_768
TEXT = Language("text")


class UnknownLanguageError(ValueError):
    """No row of the table has this name."""


def split(
    data: bytes, language: str | None = None, target: int = TARGET, natural: bool = False
) -> Pieces:
    """Cut a file into pieces of at most `target` bytes; joined they are the file.

    `language` is a name or alias of `LANGUAGES`; None or `text` cuts at paragraphs and lines.
    `natural` makes every declaration, section or paragraph a piece of its own.
    Raises UnknownLanguageError, and ValueError for a target below 1.
    """
    if target < 1:
        raise ValueError(f"The target is {target}; it has to be 1 byte or more.")
    row = _row(language)
    root = None if row is TEXT else parse(data, row).root_node
    found: Iterator[Unit] = (
        paragraphs(data, target) if root is None else units(data, root, row, target)
    )
    cuts = (unit.start for unit in found) if natural else packed(found, target)
    starts = [0, *(cut for cut in cuts if cut)]
    return Pieces(data, row.name, target, natural, tuple(_pieces(data, starts, root, row)))


def _row(language: str | None) -> Language:
    if language in (None, "text", "txt"):
        return TEXT
    if row := BY_NAME.get((language or "").lower().removeprefix(".")):
        return row
    known = ", ".join(sorted({row.name for row in BY_NAME.values()}))
    raise UnknownLanguageError(f"No language is called {language}; known are text, {known}.")


def _pieces(
    data: bytes, starts: list[int], root: Node | None, language: Language
) -> Iterator[Piece]:
    line = 1
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(data)], strict=True), 1):
        breaks = data.count(b"\n", start, end)
        last = line + breaks - (data[end - 1 : end] == b"\n" or start == end)
        kind, named, parent = _place(root, start, end, language)
        digest = sha256(data[start:end]).hexdigest()
        yield Piece(number, start, end, line, last, kind, named, parent, language.name, digest)
        line += breaks


def _place(root: Node | None, start: int, end: int, language: Language) -> tuple[str, str, str]:
    """Kind, name and parent of the declaration a piece starts with or goes on with."""
    # TODO(core): along the path to `start`, then the first declaration that begins in the piece
    if root is not None:
        for child in root.named_children:
            if child.end_byte <= start or child.start_byte >= end:
                continue
            if found := declared(child, language):
                return found.declared.kind, found.declared.name, ""
    return "lines", "", ""
