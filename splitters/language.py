"""A language: what it is told by, and which parts of its syntax matter to a reader."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)  # not frozen, which takes four times as long to make: a file has many
class Declared:
    """What a node declares."""

    kind: str
    """`function`, `class`, `section`..."""
    name: str
    """Without what encloses it."""
    scope: str = ""
    """What the names inside it are qualified by, where that is not its own name."""
    heading: str = ""
    """Not empty: it goes on to the next heading of its rank. A digit is the rank; other marks
    are ranked in the order in which a file brings them up."""


Reader = Callable[[Any, str], Declared | None]
"""Reads a node of the grammar and its kind; None: it declares nothing after all. (Any: the
node's type is behind the door of the grammars, which imports this module.)"""


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table; node types are those of the grammar."""

    name: str
    grammar: str = ""
    """The grammar's name, where it is not the language's own."""
    suffixes: tuple[str, ...] = ()
    """With their dot, in lower case."""
    files: tuple[str, ...] = ()
    """Whole file names, such as `Makefile`; `*` stands for anything."""
    interpreters: tuple[str, ...] = ()
    """Programs a `#!` line names, without a version."""
    aliases: tuple[str, ...] = ()
    """Other names a person may give; suffixes are names too."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What a declaration's node type is to a reader: `function`, `class`, `section`..."""
    names: Mapping[str, str | Reader] = field(default_factory=dict)
    """How such a node is named, where it is not by its field `name`: a path of fields or child
    types such as `key/string|value`, or a function where a path cannot say it."""
    wrappers: frozenset[str] = frozenset()
    """Node types that are one with the single declaration in them: `export`, decorators."""
    holders: frozenset[str] = frozenset()
    """Node types that only hold declarations: natural pieces are what is in them."""
    wholes: frozenset[str] = frozenset()
    """Node types that are natural pieces though they declare nothing."""
    attached: frozenset[str] = frozenset()
    """Node types that belong to the declaration below them: comments, decorators, attributes."""
    trails: tuple[bytes, ...] = ()
    """What begins a comment of one line, begins one of many, and ends that one, where the grammar
    takes a comment for a part of what is before it; empty where it does not."""
    clauses: frozenset[str] = frozenset()
    """Node types of which several of one name in a row are one declaration."""
    item: bytes = b""
    """What begins an item of a file, with the comments above it, where it begins the line after a
    blank one: a regular expression of what can go on with nothing before, nor needs it. Empty: a
    file is no list of items, or its items cannot be told so."""
    endless: frozenset[str] = frozenset()
    """Node types that are valid without their end, and not over at a blank line."""
    joint: str = "."
    """Stands between the parts of a qualified name."""
    joints: Mapping[str, str] = field(default_factory=dict)
    """What stands there instead after a parent of this kind."""
    depth: int = 0
    """How many levels an outline lists of data, which has no end of them; from the second level
    on, only what begins its line. 0: all."""

    @property
    def parser(self) -> str:
        """The grammar's name."""
        return self.grammar or self.name
