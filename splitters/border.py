"""A border: a place where a file may be cut, and how well a cut there would read."""

from dataclasses import dataclass
from enum import IntEnum

from splitters.syntax import Node

TEXT = 1_000_000
"""The level of the lines of a string or comment that is over the target; syntax is below it."""

ASKED = 100
"""Borders of a piece that are asked for the names of what begins in it."""

PARTS = 4
"""Of two borders of one rank, the one that fills another quarter of the piece is better."""


class Rank(IntEnum):
    """What a cut costs; a worse one is made only where a piece holds no better border."""

    CLEAN = 0
    """Between declarations, members, statements, items, or the lines of what is all text."""
    TORN = 1
    """At a line, between what belongs together: a signature and its body, a closing bracket."""
    BROKEN = 2
    """At a line, between a comment and what it describes, or inside what would fit."""
    WITHIN = 3
    """Within a line."""


@dataclass(slots=True)
class Place:
    """A declaration that was opened: what a piece that starts inside it goes on with."""

    kind: str
    name: str
    """Qualified."""
    parent: str
    scope: str
    """What the names inside are qualified by."""


@dataclass(slots=True)  # not frozen, which takes four times as long to make: a file has many
class Border:
    """A place where a file may be cut."""

    at: int
    rank: Rank
    level: int
    """Of two borders of one rank the lower is better: 0 is between top-level declarations."""
    node: Node | Place | None = None
    """What begins here; a place, where it was read already."""
    place: Place | None = None
    """What it is in."""
    alone: bool = False
    """What begins here is a piece of its own, if pieces are to be natural."""
