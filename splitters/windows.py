"""The windows of a large file, which are parsed one after the other: no tree is of all of it.

A window ends before what looks like the beginning of an item (`Language.item`). What ends there and
is valid so is what it is in the whole file. If it is not valid, the file is not, or the window ends
within something, a string perhaps: then all that is left is one window.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from time import thread_time
from typing import NamedTuple

from splitters.figures import Figures, figures
from splitters.language import Language
from splitters.syntax import Tree, ends_open, parse

LEAST = 1 << 15
MOST = 1 << 17
"""Bytes of a window, about: a smaller one takes more time for each byte."""
PARTS = 8
"""Windows of a file, if they are neither smaller nor larger than that."""
FEWEST = 4
"""Windows that a file is worth."""
LONG = 2
"""Times the usual size, of which a window is so long that rows of figures are left out."""


class NotParsedError(Exception):
    """A file that would take too long to parse, or break its grammar."""


class Window(NamedTuple):
    """A part of a file, or all of it, parsed."""

    tree: Tree
    figures: Sequence[Figures] = ()
    """Rows that were left out."""


def windows(
    text: bytes, language: Language, *, whole: bool = False, seconds: float | None = None
) -> Iterator[Window]:
    """A file's windows, in order; one if `whole`. Raises NotParsedError.

    Each is parsed when it is asked for, and `seconds` are those of the thread's processor for all.
    The first is half as large: a file that is not valid may show so early, with little lost.
    """
    size = max(LEAST, min(MOST, len(text) // PARTS))
    if whole or not language.item or len(text) < FEWEST * size:
        size = len(text)
    start, left = 0, seconds
    while True:
        end = _end(text, start + (size if start or size == len(text) else size // 2), language)
        rows = [*figures(text, start, end)] if end - start > LONG * size else []
        began = thread_time()
        tree = parse(text, language, _between(rows, start, end, text), left)
        if tree is None:
            raise NotParsedError
        if left is not None:
            left -= thread_time() - began
        if end < len(text) and ends_open(tree, language):
            size = len(text)
        else:
            yield Window(tree, rows)
            start = end
        del tree  # before the next one is made
        if start == len(text):
            return


def _between(rows: Sequence[Figures], start: int, end: int, text: bytes) -> list[range]:
    """What is to be parsed; nothing said is all. (Parts are said without their true lines, on
    which recovery from an error depends, and to count these takes time.)"""
    if not rows and end - start == len(text):
        return []
    starts = [start, *(one.end for one in rows)]
    ends = [*(one.start for one in rows), end]
    return [range(*both) for both in zip(starts, ends, strict=True)]


def _end(text: bytes, least: int, language: Language) -> int:
    """The first place from `least` on at which a window may end."""
    if least >= len(text):
        return len(text)
    found = _after_blank(language.item).search(text, least)
    return found.end() if found else len(text)


@cache
def _after_blank(item: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n[ \t\r]*+\n(?=" + item + rb")")
