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
    fit = [one for one in found if _fits(one, target)]
    torn = {(one.offset, one.what): one for one in _in_spans(fit, cuts)}
    for one in (*_in_lines(data, fit, cuts, target), *_in_characters(data, cuts)):
        torn[one.offset, one.what] = one
    return [torn[place] for place in sorted(torn)]


def _fits(span: Span, target: int) -> bool:
    """A description may stand apart from what fits only without it: else that would be torn."""
    if span.end - span.start > target:
        return False
    alone, together = span.whole - span.end + 1, span.whole - span.start
    return not alone <= target < together


def _in_spans(fit: Sequence[Span], cuts: Sequence[int]) -> list[Objection]:
    return [
        Objection(cut, span.what, span.start, span.end)
        for span in fit
        for cut in cuts[bisect_right(cuts, span.start) : bisect_left(cuts, span.end)]
    ]


def _in_lines(
    data: bytes, fit: Sequence[Span], cuts: Sequence[int], target: int
) -> list[Objection]:
    """A line may be cut between two strings or comments that begin and end in other lines."""
    starts = [*line_starts(data), len(data) + 1] if cuts else []
    found = []
    for cut in cuts:
        after = bisect_right(starts, cut)
        start, end = starts[after - 1], min(starts[after], len(data))
        if start < cut and end - start <= target:
            torn = [one for one in fit if one.what in ("string", "comment")]
            if not all(any(one.start < at < one.end for one in torn) for at in (start, end)):
                found.append(Objection(cut, "line", start, end))
    return found


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
