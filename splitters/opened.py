"""A node that is looked into: which of the places between its children are good to cut at."""

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from splitters.border import TEXT, Border, Place, Rank
from splitters.language import Language
from splitters.syntax import Node

NESTED = 1_000
"""Levels between a declaration and those inside it; its statements come in between."""
CLOSING = re.compile("end_tag|ETag|closing|_end$")
LEADING = re.compile("start_tag|STag|opening|attribute_|annotation|decorator|modifier|comment")


class Child(NamedTuple):
    """A child of an opened node, and where it stands."""

    node: Node
    type: str
    named: bool
    start: int
    end: int
    field: int | None
    line: int | None
    """The start of its line, if nothing but blanks stands before it there."""
    after_blank: bool
    """Whether the line before is blank."""


@dataclass(slots=True)
class Opened:
    """A node whose children are seen one after the other."""

    language: Language
    target: int
    natural: bool = False
    """Whether pieces are to be natural: a declaration, a section, a member each."""
    top: bool = False
    """Whether its children are these."""
    alone: bool = False
    """Whether it has one named child only."""
    place: Place | None = None
    known: int = 0
    """The id of the node inside wrappers that `place` is: it is not declared once more."""
    nested: int = 0
    """Declarations around the children."""
    depth: int = 0
    """Nodes between the children and the innermost of these."""
    rank: Rank = Rank.CLEAN
    """The best that a border inside can be."""
    error: bool = False
    """Whether its syntax is not valid: only plain signs of a beginning count then."""
    items: bool = False
    """Whether an item was seen: nothing is parted from the first one."""
    same: int | None = None
    """The field of the child before: another one in it is one more item."""
    ended: bool = True
    """Whether the child before was a whole thing: a declaration, or the comma after an item."""
    waiting: list[Child] = field(default_factory=list)
    """Comments and the like, which belong to the next child."""

    def borders(self, child: Child) -> list[Border]:
        """The borders that are known once a child is seen."""
        if child.line is not None and child.field is None and self._leads(child):
            self.waiting.append(child)
            return []
        found = self._grouped(child) if self.waiting else [self._border(child)]
        if child.named:
            self.items = self.items or child.field is None
            self.same = child.field
        self.ended = child.type == "," or self.declares(child)
        return found

    def rest(self) -> list[Border]:
        """The borders of what still waits for a child when there is none."""
        return self._grouped(None) if self.waiting else []

    def declares(self, child: Child) -> bool:
        """Whether it is a declaration, or wraps one, that is not known yet."""
        return _declares(child.type, self.language) and child.node.id != self.known

    def _leads(self, child: Child) -> bool:
        return (
            child.named
            and child.end - child.start <= self.target
            and (child.type in self.language.attached or _matches(LEADING, child.type))
        )

    def _border(self, child: Child) -> Border:
        if child.line is None:
            at, rank = child.start, Rank.WITHIN
        else:
            at, rank = child.line, self._rank(child)
        declares = self.declares(child)
        level = self.nested * NESTED + (0 if declares else 1 + min(self.depth, NESTED - 3))
        return Border(
            at, rank, level, child.node if declares else None, self.place, self._natural(child)
        )

    def _natural(self, child: Child) -> bool:
        if not self.natural or not self.top:
            return self.natural and self.is_section(child)
        return self.is_section(child) or self.declares(child) or self.ended or child.after_blank

    def is_section(self, child: Child) -> bool:
        """Whether it is a section, which may hold others."""
        return self.language.kinds.get(child.type) == "section"

    def _rank(self, child: Child) -> Rank:
        like = self.items if child.field is None else child.field == self.same
        clean = like and child.named and not _matches(CLOSING, child.type)
        if self.error and clean:
            clean = child.after_blank or child.line == child.start
        return self.rank if clean else max(self.rank, Rank.TORN)

    def _grouped(self, child: Child | None) -> list[Border]:
        """The borders of what waited for a child, and its own: the best is before all of them."""
        if child is None:
            best, places = Border(0, self.rank, NESTED - 1, None, self.place), self.waiting
        else:
            best = self._border(child)._replace(rank=self._rank(child))
            places = self.waiting if child.line is None else [*self.waiting, child]
        long = places[-1].start - places[0].start > self.target
        inner = (self.rank, TEXT) if long else (max(self.rank, Rank.TORN), best.level)
        found = [best._replace(at=places[0].line or 0)]
        for before, here in pairwise(places):
            apart = here.after_blank and "comment" in before.type
            rank, level = (best.rank, best.level + 1) if apart else inner
            alone = here is child and self.is_section(child) and self.natural
            found.append(best._replace(at=here.line or 0, rank=rank, level=level, alone=alone))
        self.waiting = []
        return found


@cache
def _matches(pattern: re.Pattern[str], kind: str) -> bool:
    return bool(pattern.search(kind))


def _declares(kind: str, language: Language) -> bool:
    return kind in language.kinds or kind in language.wrappers
