"""Comments that stand right above a line, where the grammar has them in what is before."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from splitters.border import Border, Rank

INDENT = re.compile(rb"[ \t]*")
QUOTES = re.compile(rb"\"\"\"|'''")
"""A line with these is taken for no comment: a string of many lines may end in it."""


def lifted(
    borders: Iterable[Border], text: bytes, marks: tuple[bytes, ...], target: int
) -> Iterator[Border]:
    """The borders, each before the comments that end right above its line.

    `marks` begin a comment of one line, begin one of many, and end it. Borders that such comments
    have of their own are bad ones then.
    """
    held: list[Border] = []  # at comments: what is below these may take their place
    least = torn = -1
    for border in borders:
        line = border.at
        if text.startswith(marks[:2], _word(text, line)):
            held.append(border)
            continue
        if line == torn:
            border.rank = max(border.rank, Rank.BROKEN)
        elif border.rank is not Rank.BROKEN and line > least:
            at = above(text, line, max(least, 0, line - target), marks)
            if at < line:
                yield from (one for one in held if one.at < at)
                inside = dict.fromkeys(one.at for one in held if one.at > at)
                torn = line
                yield replace(border, at=at)
                border.rank, border.alone = Rank.BROKEN, False
                held = [replace(border, at=one) for one in inside]
        yield from held
        held = []
        yield border
        least = line
    yield from held


def above(text: bytes, line: int, least: int, marks: tuple[bytes, ...]) -> int:
    """Where comments begin that end right above a line, behind `least`; else the line.

    One that stands further to the right is about what is above it.
    """
    found, column = line, _word(text, line) - line
    while found > least and text[found - 1 : found] == b"\n":
        start = _comment(text, found, least, marks)
        if not least <= start < found or _word(text, start) - start > column:
            return found
        found = start
    return found if found > least or not least else line


def _comment(text: bytes, line: int, least: int, marks: tuple[bytes, ...]) -> int:
    """The start of the first line of a comment that ends right above a line; -1: there is none."""
    start = text.rfind(b"\n", least, line - 1) + 1 or least
    row = text[start:line].strip()
    if QUOTES.search(row):
        return -1
    if row.startswith(marks[0]):
        return start
    if not marks[1:] or not row.endswith(marks[2]):
        return -1
    _, opening, closing = marks
    begin = text.rfind(opening, least, line)
    start = max(text.rfind(b"\n", least, max(begin, least)) + 1, least)
    inside = text.find(closing, begin) < text.rfind(closing, begin, line)
    return -1 if begin < least or inside or text[start:begin].strip() else start


def _word(text: bytes, line: int) -> int:
    """Where the first word of a line begins."""
    found = INDENT.match(text, line)
    return found.end() if found else line
