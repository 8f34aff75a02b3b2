"""A file cut at its lines alone, at a cost that no content can raise: when all else failed."""

from collections.abc import Iterator
from hashlib import sha256

from splitters import Piece, Pieces
from splitters.source import read

_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""The marks of UTF-16, of which every character has an even number of bytes."""


def cut(data: bytes, target: int) -> Pieces:
    """Pieces of a plain text: as full as can be with a line's end at their own."""
    pieces = []
    source = read(data)
    text, width = source.text, source.width
    line = 1
    for number, (start, end) in enumerate(_spans(text if width == 1 else data, target), 1):
        first, behind = start // width, end // width
        breaks = text.count(b"\n", first, behind)
        last = line + breaks - (start == end or text[behind - 1 : behind] == b"\n")
        digest = sha256(data[start:end]).hexdigest()
        pieces.append(Piece(number, start, end, line, last, "lines", "", "", "text", digest))
        line += breaks
    return Pieces(data, "text", target, False, tuple(pieces))


def _spans(data: bytes, target: int) -> Iterator[tuple[int, int]]:
    wide = data.startswith(_WIDE) and target > 2
    start = 0
    while len(data) - start > target:
        most = start + target - wide
        end = data.rfind(b"\n", start, most) + 1 or _whole(data, start, most)
        end += wide and (end - start) % 2
        yield start, end
        start = end
    yield start, len(data)


def _whole(data: bytes, start: int, end: int) -> int:
    """The last place up to `end` that is not inside a character of UTF-8."""
    found = end
    while found > max(start, end - 4) and 0x80 <= data[found] < 0xC0:
        found -= 1
    return found if found > start and data[found] >= 0xC0 else end
