"""A unit: a span that nothing may cut; a file is a sequence of them."""

from collections.abc import Iterator
from dataclasses import dataclass

LINE = 100
"""The level of a cut between lines that syntax would have kept together."""
WITHIN = 101
"""The level of a cut inside a line."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A span of bytes, at most the target long, and how good a cut before it is."""

    start: int
    end: int
    level: int
    """0: between top-level declarations; deeper between members, statements; then `LINE`..."""


def lines(data: bytes, start: int, end: int, target: int, level: int = LINE) -> Iterator[Unit]:
    """Cut a span that has no syntax at its lines, and lines over the target inside."""
    while start < end:
        # TODO(core): lone CR, UTF-16
        stop = data.find(b"\n", start, end) + 1 or end
        while stop - start > target:
            yield Unit(start, start + target, level)
            start, level = start + target, WITHIN
        yield Unit(start, stop, level)
        start, level = stop, LINE


def paragraphs(data: bytes, target: int) -> Iterator[Unit]:
    """Cut a text at its blank lines; a paragraph over the target at its lines."""
    start = 0
    while start < len(data):
        stop = data.find(b"\n\n", start)
        stop = len(data) if stop < 0 else stop + 2
        while data[stop : stop + 1] == b"\n":
            stop += 1
        if stop - start <= target:
            yield Unit(start, stop, 0)
        else:
            yield from lines(data, start, stop, target, 0)
        start = stop
