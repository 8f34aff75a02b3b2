"""A file that is cut, edited and cut again: only what an edit touches is parsed anew."""

from dataclasses import dataclass

from splitters.language import Language
from splitters.piece import Pieces
from splitters.source import Source, read
from splitters.split import TARGET, cut
from splitters.syntax import Tree, parse, reparse
from splitters.table import TEXT, known
from splitters.windows import Window

AROUND = 1
"""Bytes beside an edit that may be read in another way after it: a line break, half a pair."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file and its syntax; it cuts into the same pieces as `split` of its bytes."""

    data: bytes
    language: Language
    _source: Source
    _tree: Tree | None

    @classmethod
    def of(cls, data: bytes, language: Language | str | None = None) -> "Document":
        """A file to be cut, in a language as `split` takes it; raises UnknownLanguageError."""
        row, source = known(language), read(data)
        return cls(data, row, source, _parsed(source, row))

    def split(self, target: int = TARGET, natural: bool = False) -> Pieces:
        """Its pieces, of at most `target` bytes; raises ValueError for a target below 1."""
        parsed = [Window(self._tree)] if self._tree else None
        return cut(self.data, self._source, parsed, self.language, target, natural)

    def edit(self, start: int, end: int, replacement: bytes) -> "Document":
        """The file with other bytes from `start` up to `end`; this one stays as it is.

        Offsets are bytes. Raises ValueError outside of the file.
        """
        if not 0 <= start <= end <= len(self.data):
            raise ValueError(f"{start} to {end} is not in a file of {len(self.data)} bytes.")
        data = self.data[:start] + replacement + self.data[end:]
        old, new, row = self._source, read(data), self.language
        units = {at % new.width for at in (start, end, len(replacement))}
        if self._tree is None or new.width != old.width or units != {0}:
            return Document(data, row, new, _parsed(new, row))
        first = max(0, start // new.width - AROUND)
        last = min(len(old.text), end // new.width + AROUND)
        tree = reparse(self._tree, old.text, new.text, first, last, row)
        return Document(data, row, new, tree)


def _parsed(source: Source, row: Language) -> Tree | None:
    return None if row is TEXT else parse(source.text, row)
