"""A file cut at its lines alone, at a cost that no content can raise: when all else failed."""

from collections.abc import Iterator
from hashlib import sha256

from splitters import Piece, Pieces
from splitters.source import Source, read


def cut(data: bytes, target: int) -> Pieces:
    """Pieces of a plain text: as full as can be with a line's end at their own."""
    pieces = []
    source = read(data)
    if target < source.width:
        source = Source(data)
    text, width = source.text, source.width
    line = 1
    for number, (first, behind) in enumerate(_spans(text, target // width), 1):
        start, end = first * width, min(behind * width, len(data))
        breaks = text.count(b"\n", first, behind)
        last = line + breaks - (first == behind or text[behind - 1 : behind] == b"\n")
        digest = sha256(data[start:end]).hexdigest()
        pieces.append(Piece(number, start, end, line, last, "lines", "", "", "text", digest))
        line += breaks
    return Pieces(data, "text", target, False, tuple(pieces))


def _spans(text: bytes, target: int) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > target:
        most = start + target
        end = text.rfind(b"\n", start, most) + 1 or _whole(text, start, most)
        yield start, end
        start = end
    yield start, len(text)


def _whole(text: bytes, start: int, end: int) -> int:
    """The last place up to `end` that is not inside a character of UTF-8."""
    found = end
    while found > max(start, end - 4) and 0x80 <= text[found] < 0xC0:
        found -= 1
    return found if found > start and text[found] >= 0xC0 else end
