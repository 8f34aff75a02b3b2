"""Borders chosen: full pieces, cut where it reads best."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from splitters.border import PARTS, Border, Rank


class Span(NamedTuple):
    """A piece to be."""

    borders: list[Border]
    """Those in it: first its start."""
    end: int


def packed(
    borders: Iterable[Border],
    end: int,
    target: int,
    natural: bool,
    ahead: list[Border],
) -> Iterator[Span]:
    """The pieces; of two borders in a row none is further from the other than the target.

    `ahead` holds the borders since the last cut while more of them are asked for.
    """
    start = 0
    for border in chain(borders, [Border(end, Rank.CLEAN, 0)]):
        while border.at - start > target:
            cut = _best(ahead, target)
            yield Span(ahead[:cut], ahead[cut].at)
            del ahead[:cut]
            start = ahead[0].at
        if natural and border.alone and ahead:
            yield Span(ahead[:], border.at)
            ahead.clear()
        if not ahead:
            start = border.at
        ahead.append(border)
    yield Span(ahead[:-1], end)


def _best(ahead: list[Border], target: int) -> int:
    """The index of the border that costs least: by rank, fill, level, and then the last one."""
    start = ahead[0].at
    best, cost, floor = 0, (len(Rank), 0, 0), 0
    for index in range(len(ahead) - 1, 0, -1):
        at, rank, level, *_ = ahead[index]
        if at < floor:
            break  # a clean one was found, and from here on pieces are a quarter less full
        part = min(PARTS - 1, (at - start) * PARTS // target)
        if (found := (rank, -part, level)) < cost:
            best, cost = index, found
            if rank == Rank.CLEAN:
                floor = start + -(-part * target // PARTS)
    return best
