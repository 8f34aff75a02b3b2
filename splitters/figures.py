"""Rows of figures: lines of numbers and commas alone, thousands in a table, which need no parse.

Each number is several nodes of a syntax tree, 60 times the size of its text. In a list all such
rows are alike: what is true of a cut before one is true of a cut before any.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from splitters.border import Border

ROW = re.compile(rb"\n(?=([ \t]++(?:-?\d[\w.]*+,[ \t]*+)++\r?\n))")
"""A row behind the end of a line; what begins so is found several times as fast as with `^`."""
LEAST = 1 << 12
"""Bytes of rows that are worth leaving out."""
STEP = LEAST // 2
"""Bytes after which a line is looked at; to look at each takes ten times as long."""


class Figures(NamedTuple):
    """Rows in a row, but for two before them: the first of a list is not as the others."""

    like: int
    """Where the last row before them starts."""
    start: int
    end: int


def figures(text: bytes, start: int, end: int) -> Iterator[Figures]:
    """The rows of figures between two places, where they are many."""
    begin, is_row = None, False
    for place in range(start, end, STEP):  # so many rows are at one of these at least
        behind = text.rfind(b"\n", max(start, place - STEP), place)
        if behind >= 0:  # else it is the line of before, however long
            is_row = ROW.match(text, behind, end) is not None
        if is_row and begin is None:
            begin = max(start, place - STEP)
        elif begin is not None and not is_row:
            yield from _rows(text, begin, place)
            begin = None
    if begin is not None:
        yield from _rows(text, begin, end)


def _rows(text: bytes, start: int, end: int) -> Iterator[Figures]:
    rows: list[int] = []
    last = start
    for row in ROW.finditer(text, start, end):
        if row.start(1) != last:
            yield from _many(rows, last)
            rows.clear()
        rows.append(row.start(1))
        last = row.end(1)
    yield from _many(rows, last)


def _many(rows: list[int], end: int) -> Iterator[Figures]:
    if len(rows) > 2 and end - rows[2] >= LEAST:
        yield Figures(rows[1], rows[2], end)


def filled(borders: Iterable[Border], rows: Iterable[Figures], text: bytes) -> Iterator[Border]:
    """Borders, and those before rows that were not parsed, as before the row above them.

    There is none before that where the rows are inside something that is not looked into.
    """
    left = iter(rows)
    here = next(left, None)
    before = None
    for border in borders:
        while here and border.at >= here.end:
            if before and before.at == here.like:
                starts = (row.start(1) for row in ROW.finditer(text, here.start - 1, here.end))
                yield from (replace(before, at=at) for at in starts)
            here = next(left, None)
        yield border
        before = border
