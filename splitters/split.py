"""Cutting a file into pieces: the straight line of this package."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice

from splitters.above import lifted
from splitters.border import ASKED, Border
from splitters.language import Language
from splitters.lines import paragraphs
from splitters.naming import begun
from splitters.packing import Span, packed
from splitters.piece import Piece, Pieces
from splitters.source import Source, read
from splitters.table import TEXT, known
from splitters.walk import borders
from splitters.windows import NotParsedError, Window, windows

TARGET = 32_768
NAMES = 20
"""Names that a piece lists, beside that of what it starts with."""


def split(
    data: bytes,
    language: Language | str | None = None,
    target: int = TARGET,
    natural: bool = False,
    seconds: float | None = None,
) -> Pieces:
    """Cut a file into pieces of at most `target` bytes; joined they are the file.

    `language` is what `detect` gives, or a name or alias of `LANGUAGES`; None or `text` cuts at
    paragraphs and lines.
    `natural` makes every outermost declaration, section or paragraph a piece of its own.
    A file that takes more than `seconds` of processor time to parse is cut as `text`, which its
    pieces then say; without `seconds` it takes what it takes. So is Markdown or YAML that is
    nested so deep that its grammar would break.
    Raises UnknownLanguageError, and ValueError for a target below 1.
    """
    row, source = known(language), read(data)
    if row is not TEXT:
        with suppress(NotParsedError):
            parsed = windows(source.text, row, whole=natural, seconds=seconds)
            return cut(data, source, parsed, row, target, natural)
    return cut(data, source, None, TEXT, target, natural)


def cut(
    data: bytes,
    source: Source,
    parsed: Iterable[Window] | None,
    language: Language,
    target: int,
    natural: bool,
) -> Pieces:
    """Cut a file whose syntax is known; without it, it is text."""
    if target < 1:
        raise ValueError(f"The target is {target}; it has to be 1 byte or more.")
    language = language if parsed else TEXT
    if target < source.width:
        source, parsed = Source(data), None
    text, most = source.text, target // source.width
    ahead: list[Border] = []
    if parsed is None:
        places = paragraphs(text)
    else:
        places = borders(parsed, text, language, most, natural, ahead)
        places = lifted(places, text, language.trails, most) if language.trails else places
    spans = packed(places, text, language, most, natural, ahead)
    pieces = tuple(_pieces(data, source, spans, language))
    return Pieces(data, language.name, target, natural, pieces)


def _pieces(
    data: bytes, source: Source, spans: Iterator[Span], language: Language
) -> Iterator[Piece]:
    line = 1
    start = 0
    for number, span in enumerate(spans, 1):
        first, end = span.borders[0].at, span.end
        breaks = source.text.count(b"\n", first, end)
        last = line + breaks - (first == end or source.text[end - 1 : end] == b"\n")
        stop = min(end * source.width, len(data))
        kind, name, parent, names = _named(span, language)
        digest = sha256(data[start:stop]).hexdigest()
        yield Piece(
            number, start, stop, line, last, kind, name, parent, language.name, digest, names
        )
        span.borders.clear()  # which hold trees
        line += breaks
        start = stop


def _named(span: Span, language: Language) -> tuple[str, str, str, tuple[str, ...]]:
    """Kind, name and parent of what a piece goes on with, or else of its first; all it begins."""
    start = span.borders[0]
    own = next(begun([start], language), None)
    rest = list(islice(begun(islice(span.borders, 1, ASKED), language), NAMES))
    if place := own or start.place or next(iter(rest), None):
        inside = [own, *rest] if own else rest
        names = tuple(dict.fromkeys(one.name for one in inside if one.name))
        return place.kind, place.name, place.parent, names
    return "paragraph" if start.alone and language is TEXT else "lines", "", "", ()
