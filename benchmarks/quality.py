"""What is to be said of pieces that some splitter made of some files, beside its speed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from tests.corpus import Sample
from tests.splitters.judge import objections
from tests.splitters.spans import Span, spans


@dataclass(frozen=True, slots=True)
class Quality:
    """Of all files together."""

    COLUMNS: ClassVar = (
        "exact files",
        "largest piece",
        "cuts",
        "tear a function",
        "a string or comment",
        "a line, or its ending from it",
        "a doc comment from its declaration",
    )

    files: int
    exact: int
    """How many files the pieces join to."""
    largest: float
    """As a multiple of the target, in characters."""
    cuts: int
    torn: Counter[str]

    def shown(self) -> list[str]:
        said = self.torn["string"] + self.torn["comment"]
        counts = (self.torn["function"], said, self.torn["line"], self.torn["description"])
        shares = [f"{count / self.cuts:.1%}" if count else "0" for count in counts]
        return [f"{self.exact} of {self.files}", f"{self.largest:.2f} x", str(self.cuts), *shares]


def quality(files: Sequence[Sample], made: Sequence[Sequence[str]], target: int) -> Quality:
    """Of the pieces of each file, as text."""
    exact, cuts, torn = 0, 0, Counter[str]()
    for one, pieces in zip(files, made, strict=True):
        exact += "".join(pieces) == one.data.decode()
        placed = _cuts(one.data.decode(), pieces)
        cuts += len(placed)
        torn.update(each.what for each in objections(one.data, _spans(one), placed, target))
    largest = max(len(piece) for pieces in made for piece in pieces) / target
    return Quality(len(files), exact, largest, cuts, torn)


@cache
def _spans(one: Sample) -> Sequence[Span]:
    return spans(one.data, one.language)


def _cuts(text: str, pieces: Sequence[str]) -> list[int]:
    """Where the pieces begin in the file, in bytes; those that are nowhere in it are left out.

    Where only blanks are missing between two pieces, the cut is taken to be at the line's start.
    """
    found: list[int] = []
    end = offset = counted = 0
    for piece in pieces:
        start = text.find(piece, end)
        if start < 0:
            continue
        line = text.rfind("\n", end, start) + 1
        cut = line if line > end and not text[line:start].strip() else start
        offset += len(text[counted:cut].encode())
        counted = cut
        if end:
            found.append(offset)
        end = start + len(piece)
    return found
