"""A judge of cuts that knows nothing of how they were made."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tests.splitters.spans import Span, line_starts, spans


@dataclass(frozen=True, slots=True)
class Objection:
    """A cut that tears what would have fitted into one piece."""

    offset: int
    what: str
    """What of `Span` it tears; `line`; or `character`: one of UTF-8, or a CRLF."""
    start: int
    end: int


def judge(data: bytes, language: str, cuts: Sequence[int], target: int) -> list[Objection]:
    """All that is wrong with these cuts, which are offsets in order without both ends."""
    return objections(data, spans(data, language), cuts, target)


def objections(
    data: bytes, found: Sequence[Span], cuts: Sequence[int], target: int
) -> list[Objection]:
    """The same with spans that were found before."""
    lines = _Lines(data, target)
    torn = {}
    for one in (*_in_spans(found, lines, cuts), *_in_characters(data, cuts)):
        torn[one.offset, one.what] = one
    for one in _in_lines(found, lines, cuts):
        torn[one.offset, one.what] = one
    return [torn[place] for place in sorted(torn)]


class _Lines:
    """The lines of a file, and what of it fits into a piece that tears none of them."""

    def __init__(self, data: bytes, target: int) -> None:
        self._starts = [*line_starts(data), len(data) + 1]
        self._size, self._target = len(data), target

    def around(self, at: int) -> tuple[int, int]:
        """Start and end of the line that a byte is in."""
        after = bisect_right(self._starts, at)
        return self._starts[after - 1], min(self._starts[after], self._size)

    def fit(self, start: int, end: int) -> bool:
        return end - start <= self._target

    def whole(self, start: int, end: int) -> bool:
        """Whether it fits with all of its first and last line, where these fit themselves."""
        first, last = self.around(start), self.around(end - 1)
        start = first[0] if self.fit(*first) else start
        return self.fit(start, last[1] if self.fit(*last) else end)


def _in_spans(found: Sequence[Span], lines: _Lines, cuts: Sequence[int]) -> list[Objection]:
    return [
        Objection(cut, span.what, span.start, span.end)
        for span in found
        for cut in cuts[bisect_right(cuts, span.start) : bisect_left(cuts, span.end)]
        if lines.whole(span.start, span.end) and not _fits_only_alone(span, lines)
    ]


def _fits_only_alone(span: Span, lines: _Lines) -> bool:
    """A declaration that fits without its description only: one of the two has to be torn."""
    return (
        span.what == "description"
        and lines.fit(span.end - 1, span.whole)
        and not lines.whole(span.start, max(span.end, span.whole))
    )


def _in_lines(found: Sequence[Span], lines: _Lines, cuts: Sequence[int]) -> list[Objection]:
    """A line may be cut where a string or comment that goes on in another line leaves no choice:
    where it fits but for the rest of its lines, or where there is one at both ends."""
    texts = [one for one in found if one.what in ("string", "comment")]
    torn = []
    for cut in cuts:
        start, end = lines.around(cut)
        if start == cut or not lines.fit(start, end):
            continue
        at_start = [one for one in texts if one.start < start < one.end]
        at_end = [one for one in texts if one.start < end < one.end]
        held = [one for one in at_start + at_end if lines.fit(one.start, one.end)]
        forced = any(not lines.whole(one.start, one.end) for one in held)
        if not forced and not (at_start and at_end):
            torn.append(Objection(cut, "line", start, end))
    return torn


def _in_characters(data: bytes, cuts: Sequence[int]) -> list[Objection]:
    found = [cut for cut in cuts if data[cut - 1 : cut + 1] == b"\r\n"]
    if any(data[cut] & 0xC0 == 0x80 for cut in cuts) and _is_utf8(data):
        found += [cut for cut in cuts if data[cut] & 0xC0 == 0x80]
    return [Objection(cut, "character", cut - 1, cut + 1) for cut in found]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
