"""A node that is looked into: which of the places between its children are good to cut at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from splitters.above import above
from splitters.border import TEXT, Border, Place, Rank
from splitters.declared import Found, declared
from splitters.naming import Headings
from splitters.roles import Role, Roles
from splitters.syntax import Node

SPACE = 32
NEWLINE = 10
BLANK = b" \t\f\v"
DEEPEST = 50
"""Declarations inside each other that are told apart; data has levels without end."""
Line = tuple[int, int, bool]
"""Where a line starts, where a child starts behind its blanks, and whether that is a comment."""
NESTED = 1_000
"""Levels between a declaration and those inside it; its statements come in between."""


@dataclass(slots=True)
class Child:
    """A child of an opened node, and where it stands."""

    node: Node
    role: Role
    named: bool
    start: int
    end: int
    field: int | None
    line: int | None
    """The start of its line, if nothing but blanks stands before it there."""


@dataclass(slots=True)
class Opened:
    """A node whose children are seen one after the other."""

    text: bytes
    roles: Roles
    target: int
    natural: bool = False
    """Whether pieces are to be natural: a declaration, a section, a member each."""
    top: bool = False
    """Whether its children are these pieces."""
    single: bool = False
    """Whether it has one named child only, beside comments."""
    end: int = 0
    place: Place | None = None
    known: int = 0
    """The id of the node inside wrappers that `place` is: it is not declared once more. 0: it is
    not inside, or there is none."""
    nested: int = 0
    """Declarations around the children."""
    level: int = 0
    """The level of a border before a declaration; before all else it is the next one."""
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
    clause: str = ""
    """The name of the declaration before, if there may be more of it."""
    waiting: list[Line] = field(default_factory=list)
    """Comments and the like, which belong to the next child."""
    title: Border | None = None
    """The border before the heading among these."""
    headings: Headings | None = None

    def seen(self, field: int | None) -> None:
        """Note a named child: an item, if it is in no field."""
        if field is None:
            self.items = True
        self.same = field

    @property
    def quick(self) -> bool:
        """Whether a usual child, in no field and with a line of its own, is one more item."""
        return self.items and not (self.natural or self.title)

    @property
    def even(self) -> bool:
        """Whether all such children are alike, but for those that several clauses make one of."""
        return not (self.error or self.known or self.nested >= DEEPEST)

    def grouped(self, node: Node, role: Role, start: int, line: int) -> list[Border]:
        """The borders of what waited for a usual child, and its own."""
        best = self._before(node, role, start, line)
        return self.with_leading(best, start) if self.waiting else [best]

    def with_leading(self, border: Border, start: int) -> list[Border]:
        """The border of a usual child, which starts there, behind those of what waited for it."""
        self.waiting.append((border.at, start, False))
        return self._parted(border, border.rank, border.node)

    def _before(self, node: Node, role: Role, start: int, line: int) -> Border:
        """The border before a usual child."""
        self.same = None
        declares = role.declares and self.nested < DEEPEST and node.id != self.known
        level, rank = self.level if role.firm else self.level + 1, self.rank
        if (role.clause or self.clause) and self._goes_on(node, role):
            rank = max(rank, Rank.TORN)
        if self.error and line != start and not is_after_blank(self.text, line):
            rank = max(rank, Rank.TORN)
        return Border(line, rank, level, node if declares else None, self.place)

    def borders(self, child: Child) -> Sequence[Border]:
        """The borders that are known once a child is seen."""
        if child.role.between and self.text[child.start : child.end].isspace():
            self.seen(child.field)
            return ()
        if child.role.leads and self._leads(child):
            return self._wait(child)
        found = self._grouped(child) if self.waiting else (self._border(child),)
        if child.named:
            self.seen(child.field)
        if self.top:
            self.ended = self._is_declaration(child) or child.node.type == ","
        return found

    def rest(self) -> Sequence[Border]:
        """The borders of what still waits for a child when there is none."""
        return self._grouped(None) if self.waiting else ()

    def declares(self, child: Child) -> bool:
        """Whether it is a declaration, or wraps one, that is not known yet."""
        return child.role.declares and self.nested < DEEPEST and child.node.id != self.known

    def _leads(self, child: Child) -> bool:
        small = child.end - child.start <= self.target
        free = child.field is None or child.role.attached
        return small and child.named and child.line is not None and free

    def _wait(self, child: Child) -> Sequence[Border]:
        """What leads waits for what it belongs to; a heading says where what follows is."""
        found: Sequence[Border] = ()
        if child.role.titles and (title := declared(child.node, self.roles.language)):
            found = self._grouped(None) if self.title else ()
            self.place, border = self._under(title), self._border(child)
            border.rank, border.node, border.alone = self.rank, self.place, self.natural
            self.title = border
            self.items, self.top = True, False
        self.waiting.append((child.line or 0, child.start, child.role.comments))
        return found

    def _under(self, title: Found) -> Place:
        if self.headings is None:
            self.headings = Headings(self.place)
        return self.headings.placed(title, self.roles.language)

    def _border(self, child: Child) -> Border:
        node = child.node if self.declares(child) else None
        if child.role.holds:
            node = _heading(child.node, self.roles)
        level = self.level if child.role.firm or child.role.holds else self.level + 1
        if child.line is None:
            return Border(child.start, Rank.WITHIN, level, node, self.place)
        rank = self._rank(child)
        alone = self.top and rank is self.rank and self._is_whole(child)
        return Border(child.line, rank, level, node, self.place, alone)

    def _rank(self, child: Child) -> Rank:
        like = self.items if child.field is None else child.field == self.same
        like = like or (child.role.opens and child.role.body)  # as `declarations` of Haskell
        again = self._goes_on(child.node, child.role)
        if again or child.role.closes or not (like and child.named):
            return max(self.rank, Rank.TORN)
        if self.error and child.line != child.start and not is_after_blank(self.text, child.line):
            return max(self.rank, Rank.TORN)
        return self.rank

    def _goes_on(self, node: Node, role: Role) -> bool:
        """Whether it is one more clause of the declaration before."""
        before, self.clause = self.clause, self.clause_of(node, role)
        return self.clause != "" and self.clause == before

    def clause_of(self, node: Node, role: Role) -> str:
        """The name of a declaration that there may be more of; empty: it is none."""
        found = declared(node, self.roles.language) if role.clause else None
        return found.declared.name if found else ""

    def _is_whole(self, child: Child) -> bool:
        if self.ended or child.role.whole or self._is_declaration(child):
            return True
        line, marks = child.line or 0, self.roles.language.trails
        line = above(self.text, line, max(0, line - self.target), marks) if marks else line
        return is_after_blank(self.text, line)

    def _is_declaration(self, child: Child) -> bool:
        return child.role.declares and declared(child.node, self.roles.language) is not None

    def _grouped(self, child: Child | None) -> list[Border]:
        """The borders of what waited for a child, and its own: the best is before all of them."""
        last = Border(0, self.rank, self.level + 1, None, self.place)
        best = self.title or (self._border(child) if child else last)
        rank, node = best.rank, None if self.title else best.node
        if child and child.line is not None:
            self.waiting.append((child.line, child.start, False))
        elif child and not self.title:
            rank = self._rank(child)
        self.title = None
        return self._parted(best, rank, node)

    def _parted(self, best: Border, rank: Rank, node: Node | Place | None) -> list[Border]:
        waiting, level, place = self.waiting, best.level, self.place
        best.at, start, _ = waiting[0]
        best.rank = rank
        long = waiting[-1][1] - start > self.target
        found = [best]
        for (_, _, comments), (at, _, _) in pairwise(waiting):
            if comments and is_after_blank(self.text, at):
                found.append(Border(at, rank, level + 1, node, place))
            elif long:
                found.append(Border(at, self.rank, TEXT, node, place))
            else:
                found.append(Border(at, Rank.BROKEN, level, node, place))
        waiting.clear()
        return found


def is_after_blank(text: bytes, line: int | None) -> bool:
    """Whether a line follows a blank one, or is the first."""
    if line and line > 1 and text[line - 2] > SPACE:
        return False
    before = text.rfind(b"\n", 0, max(0, (line or 0) - 1)) + 1
    return not text[before:line].strip()


def begins_line(text: bytes, at: int) -> bool:
    """Whether nothing but blanks stands before a place in its line."""
    while at and text[at - 1] in BLANK:
        at -= 1
    return not at or text[at - 1] == NEWLINE


def _heading(section: Node, roles: Roles) -> Node | None:
    """The heading that a section starts with, if it starts with one."""
    if not section.named_child_count:
        return None
    first = section.named_child(0)
    return first if roles.of(first).titles else None
