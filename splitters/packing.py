"""Borders chosen: full pieces, cut where it reads best."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from splitters.border import PARTS, Border, Place, Rank
from splitters.language import Language
from splitters.lines import between


class Span(NamedTuple):
    """A piece to be."""

    borders: list[Border]
    """Those in it: first its start."""
    end: int


def packed(
    borders: Iterable[Border],
    text: bytes,
    language: Language,
    target: int,
    natural: bool,
    ahead: list[Border],
) -> Iterator[Span]:
    """The pieces. Where two borders in a row are further apart than the target, lines are cut.

    `ahead` holds the borders since the last cut while more of them are asked for.
    """
    last, most = 0, target
    end = Border(len(text), Rank.CLEAN, 0)
    ahead.append(Border(0, Rank.CLEAN, 0))
    for border in chain(borders, [end]):
        at = border.at
        if last < at <= most and not natural:  # as most are
            ahead.append(border)
            last = at
            continue
        if at == last and border is not end:
            border = _merged(ahead.pop(), border)
        lines = between(ahead[-1], at, text, target, language) if at - last > target else ()
        for one in chain(lines, [border]):
            while one.at > most:
                cut = _best(ahead, target)
                yield Span(ahead[:cut], ahead[cut].at)
                del ahead[:cut]
                most = ahead[0].at + target
            if natural and one.alone and ahead:
                yield Span(ahead[:], at)
                ahead.clear()
                most = at + target
            ahead.append(one)
        last = at
    yield Span(ahead[:-1], len(text))


def _merged(first: Border, second: Border) -> Border:
    """One border of two at one place; a place was read already, a node will have to be."""
    named = second if first.node is None or isinstance(second.node, Place) else first
    alone = first.alone or second.alone
    return Border(first.at, first.rank, first.level, named.node, named.place, alone)


def _best(ahead: list[Border], target: int) -> int:
    """The index of the border that costs least: by rank, fill, level, and then the last one."""
    start = ahead[0].at
    best, cost, floor = 0, (len(Rank), 0, 0), 0
    for index in range(len(ahead) - 1, 0, -1):
        border = ahead[index]
        if border.at < floor:
            break  # a clean one was found, and from here on pieces are a quarter less full
        part = min(PARTS - 1, (border.at - start) * PARTS // target)
        if (found := (border.rank, -part, border.level)) < cost:
            best, cost = index, found
            if border.rank == Rank.CLEAN:
                floor = start + -(-part * target // PARTS)
    return best
