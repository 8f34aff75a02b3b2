"""A language: what it is told by, and which parts of its syntax matter to a reader."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table; node types are those of the grammar."""

    name: str
    grammar: str = ""
    """The grammar's name, where it is not the language's own."""
    suffixes: tuple[str, ...] = ()
    """With their dot, in lower case."""
    files: tuple[str, ...] = ()
    """Whole file names, such as `Makefile`."""
    interpreters: tuple[str, ...] = ()
    """Programs a `#!` line names, without a version."""
    aliases: tuple[str, ...] = ()
    """Other names a person may give."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What a declaration's node type is to a reader: `function`, `class`, `section`..."""
    attached: frozenset[str] = frozenset()
    """Node types that belong to the declaration below them: comments, decorators, attributes."""

    @property
    def parser(self) -> str:
        """The grammar's name."""
        return self.grammar or self.name
