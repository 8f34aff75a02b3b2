"""The borders of what has no syntax: paragraphs, lines, and places within a line."""

import re
from collections.abc import Iterator

from splitters.border import TEXT, Border, Rank
from splitters.language import Language
from splitters.naming import begun

INDENTED = b" \t"
SEPARATORS = (b" ", b"\t", b",", b";", b">", b"}")
LINE = re.compile(rb"[^\n]*\n|[^\n]+")


def paragraphs(text: bytes) -> Iterator[Border]:
    """The borders of a text: its paragraphs, and the lines inside them."""
    for at, blank, indented in _lines(text, 0, len(text)):
        yield Border(at, Rank.CLEAN, indented + (0 if blank else TEXT), alone=blank)


def between(
    border: Border, end: int, text: bytes, target: int, language: Language
) -> Iterator[Border]:
    """The borders of lines behind a border, and within those that are over the target."""
    place = next(begun([border], language), border.place)
    starts = [Border(border.at, Rank.CLEAN, TEXT, None, place)]
    for at, blank, indented in _lines(text, border.at, end):
        if at > border.at:
            level = TEXT + 2 * (not blank) + indented
            starts.append(Border(at, Rank.CLEAN, level, None, place))
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        if start.at > border.at:
            yield start
        at, stop = start.at, after.at if after else end
        while stop - at > target:
            at = _within(text, at, target)
            yield Border(at, Rank.WITHIN, TEXT, None, place)


def _within(text: bytes, start: int, target: int) -> int:
    """Where to cut a line over the target: behind a separator, never inside a character."""
    end = start + target
    behind = max(text.rfind(one, end - target // 4, end) for one in SEPARATORS) + 1
    return behind or _whole(text, start, end)


def _whole(text: bytes, start: int, end: int) -> int:
    """The last place up to `end` that is inside no character and not between CR and LF."""
    cut = end
    if text[end - 1 : end + 1] == b"\r\n":
        cut = end - 1
    else:
        while cut > end - 3 and 0x80 <= text[cut] < 0xC0:
            cut -= 1
        if cut + _width(text[cut]) <= end:
            return end
    return cut if cut > start else end


def _width(lead: int) -> int:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _lines(text: bytes, start: int, end: int) -> Iterator[tuple[int, bool, bool]]:
    """Where each line with something in it starts, whether a blank one is before it, its indent."""
    blank = first = True
    for found in LINE.finditer(text, start, end):
        if found.group().isspace():
            blank = True
        else:
            at = found.start()
            yield start if first else at, blank, text[at] in INDENTED
            blank = first = False
