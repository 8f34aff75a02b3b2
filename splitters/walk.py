"""The borders of a parsed file: only nodes that are larger than the target are looked into."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from splitters.border import ASKED, PARTS, Border, Rank
from splitters.declared import declared
from splitters.figures import filled
from splitters.language import Language
from splitters.naming import placed, settle
from splitters.opened import BLANK, NESTED, NEWLINE, Child, Opened, begins_line
from splitters.roles import HEADED, Roles, roles_of
from splitters.syntax import Node, Tree, is_followed
from splitters.windows import Window

MARK = b"\xef\xbb\xbf"
BREAK = b"\r\n"
WORD = re.compile(rb"\S")
PLAIN = 2
"""Children in a row without a border, from which on others like them are skipped."""
BATCH = 64
"""Children that are looked at before their borders are handed on."""
FINE = 64
"""Borders within a line that a piece has at least, where it is of many small nodes."""


def borders(
    windows: Iterable[Window],
    text: bytes,
    language: Language,
    target: int,
    natural: bool,
    ahead: list[Border],
) -> Iterator[Border]:
    """Where a file may be cut, in order; a place may come twice, first with the better border.

    `ahead` are those handed on of which none is chosen yet, at each time the next one is asked
    for: where they are many, some are left out up to where the next cut is looked for. They are
    read at the end of the next window, and then no tree is held by them.
    """
    walk = _Walk(text, language, target, natural, ahead)
    found = chain.from_iterable(walk.borders(windows))
    return chain((replace(border, at=0) for border in islice(found, 1)), found)


class _Walk:
    """A cursor's way through the opened nodes: no depth overflows it, no number of children."""

    def __init__(
        self, text: bytes, language: Language, target: int, natural: bool, ahead: list[Border]
    ) -> None:
        self.text = text
        self.language = language
        self.target = target
        self.fine = target // FINE
        self.small = target - len(BREAK)
        self.roles = roles_of(language)
        self.ahead = ahead
        self.far = not natural and HEADED.isdisjoint(language.kinds.values())
        """Whether children may be left out: none is a heading, under which all that follows is."""
        self.path = [Opened(text, self.roles, target, natural, top=natural, items=True)]
        self.leaps = self.far
        """The same of the window: none of its rows may be left out once more."""
        self.line = self.line_end = 0
        """Where the last line that was looked at starts and ends."""
        self.fits = True
        """Whether it is no line to cut inside: within the target, and starting in no text."""
        self.text_end = 0
        """Where the last string or comment ends."""
        self.first: int | None = None
        """Where its first word starts."""
        self.last = 0
        """Where the last border is."""
        self.plain = 0
        """Children in a row without a border."""
        self.found: list[Border] = []
        """Borders that are about to be handed on."""
        self.leapt = (0, 0)
        """Up to where children were left out last, and how deep."""

    def borders(self, windows: Iterable[Window]) -> Iterator[Iterable[Border]]:
        """The borders before the children of opened nodes, and of what leads them; some at once."""
        for tree, rows in windows:
            found = self._through(tree)
            self.leaps = self.far and not rows
            if rows:
                yield filled(chain.from_iterable(found), rows, self.text)
            else:
                yield from found
            self._settle(tree.root_node.start_byte)
            del tree, found, self.cursor  # before the next one is parsed
        yield self.found
        yield self._kept(self.path.pop().rest())

    def _settle(self, start: int) -> None:
        """Read the borders of windows before this one, so that none holds a tree any more.

        Most of a window's own will have been chosen, or not, when the next one is done with.
        """
        for border in self.ahead:
            if border.at >= start:
                return
            settle(border, self.language)

    def _kept(self, borders: Iterable[Border]) -> Sequence[Border]:
        """Those that are good for something; some are before others, where syntax is not valid."""
        kept = []
        for border in borders:
            if border.at >= self.last and not (self.fits and border.rank is Rank.WITHIN):
                self.last = border.at
                kept.append(border)
        return kept

    def _through(self, tree: Tree) -> Iterator[Sequence[Border]]:
        """The borders of a window; those found last are handed on with the next one's."""
        cursor, path = tree.walk(), self.path
        self.cursor = cursor
        path[0].error = tree.root_node.is_error
        path[0].single = path[0].top and _is_single(tree.root_node, self.roles)
        more = cursor.goto_first_child()
        while True:
            around, inner = path[-1], None
            if more and around.quick:
                more = self._usual(around)
                if self.found and (more or len(path) > 1):
                    found, self.found = self.found, []
                    yield found
            if more and (node := cursor.node):
                start, end = node.byte_range
                within = end <= self.line_end and start != self.first
                if within and self._is_plain(node, start, end):
                    if self._passes(node, end):
                        continue
                elif start < end:
                    self.plain = 0
                    at_once = not start or self.text[start - 1] == NEWLINE
                    line = start if at_once else self._line(start)
                    role, field = self.roles.of(node), cursor.field_id
                    child = Child(node, role, node.is_named, start, end, field, line)
                    kept = self._kept(around.borders(child))
                    inner = self._inner(around, child)
                    if kept:
                        yield kept
                if inner and cursor.goto_first_child():
                    path.append(inner)
                    continue
                more = cursor.goto_next_sibling()
            while not more:
                if len(path) == 1:
                    return
                yield self._kept(path.pop().rest())
                cursor.goto_parent()
                more = cursor.goto_next_sibling()

    def _usual(self, around: Opened) -> bool:
        """Go to the next child that is not as most are; False: there is none.

        What it passes are the children that need no closer look, thousands in a large file: items,
        statements and declarations that begin their line, comments above them, and what else is
        in a line. Their borders are in `found` then.
        """
        cursor, text, roles, found = self.cursor, self.text, self.roles, self.found
        waiting, small, even = around.waiting, self.small, around.even
        rank, level, place = around.rank, around.level, around.place
        far = self.leaps and not (around.error or found) and len(self.ahead) > ASKED
        if far and not waiting and not self._leap(around):
            return False
        for _ in range(BATCH):
            node = cursor.node
            if node is None:
                return False
            start, end = node.byte_range
            if end <= self.line_end and start != self.first:
                if not self._is_plain(node, start, end):
                    return True
                if self._passes(node, end):
                    continue
            else:
                role = roles.get(node.kind_id) or roles.of(node)
                if not role.quick or start == end or cursor.field_id is not None:
                    return True
                line = start if text[start - 1] == NEWLINE else self._line(start)
                if line is None or end - line > small:
                    return True
                self.plain = 0
                first = waiting[0][0] if waiting else line
                if role.bare and even and not around.clause and first >= self.last:
                    begins = node if role.declares else None
                    firm = level if role.firm else level + 1
                    border = Border(line, rank, firm, begins, place)
                    if waiting:
                        found += around.with_leading(border, start)
                    else:
                        found.append(border)
                    around.same = None
                    self.last = line
                else:
                    if role.text:
                        self.text_end = end
                    if role.leads:
                        waiting.append((line, start, role.comments))
                    else:
                        found += self._kept(around.grouped(node, role, start, line))
            if not cursor.goto_next_sibling():
                return False
        return True

    def _leap(self, around: Opened) -> bool:
        """Go to where the next cut is looked for, if that is further on; False: it is not here."""
        goal = self.ahead[0].at + self.target * (PARTS - 1) // PARTS
        goal = self.text.rfind(b"\n", 0, goal) + 1
        node = self.cursor.node
        if node is None or node.end_byte >= goal or self.leapt == (goal, len(self.path)):
            return True
        if not self._goes_to(goal):
            return False
        node = self.cursor.node
        near = node and node.end_byte <= self.ahead[0].at + self.target
        self._back(around, best=not (near and is_followed(self.cursor)))
        self.leapt = goal, len(self.path)
        return True

    def _goes_to(self, goal: int) -> bool:
        """Go to the first child that ends behind a place; False: there is none, here is the last.

        The place is that of the next word: of one within a token that is no node, as the end of a
        line is in Go, tree-sitter says that no child ends behind it.
        """
        cursor, word = self.cursor, WORD.search(self.text, goal)
        cursor.goto_parent()
        if word and cursor.goto_first_child_for_byte(word.start()) is not None:
            return True
        cursor.goto_last_child()
        return False

    def _back(self, around: Opened, best: bool) -> None:
        """Go back to the last child that a piece may well begin with, and what leads it.

        None of the borders between here and there is as good, and behind it may be none that is.
        For the `best` a declaration is looked for, up to a quarter of a piece before that child.
        """
        cursor, text, good, clause, least = self.cursor, self.text, False, "", -1
        while node := cursor.node:
            role, name = self.roles.of(node), around.clause_of(node, self.roles.of(node))
            begins = begins_line(text, node.start_byte)
            goes_on = clause and (role.leads or name == clause)
            if node.start_byte < self.last or (
                good and not (role.leads and begins) and not goes_on
            ):
                around.clause = name
                cursor.goto_next_sibling()
                return
            if not role.leads:
                clause, may = name, begins and node.is_named and not role.closes
                if may and least < 0:
                    least = node.start_byte - self.target // PARTS
                good = (may and (role.firm or not best)) or node.start_byte < least
            if not cursor.goto_previous_sibling():
                return

    def _passes(self, node: Node, end: int) -> bool:
        """Note a child within a line; True: others like it were skipped, here is the next one."""
        around = self.path[-1]
        if node.is_named:
            around.seen(self.cursor.field_id)
        self.plain += 1
        # The children of an error are no balanced tree: to jump there is to search.
        return self.plain > PLAIN and around.items and not around.error and self._skip(end)

    def _is_plain(self, node: Node, start: int, end: int) -> bool:
        """Whether a child within a line has no border before it, and none inside it."""
        if self.path[-1].waiting:
            return False
        if self.fits or end - start > self.target:
            return self.fits
        near = self.last > 0 and start - self.last < self.fine
        return near or not node.is_named  # a comma stays where it is

    def _skip(self, end: int) -> bool:
        """Go to the next child that is not plain; in a list of many that costs as much as two."""
        goal = self.line_end if self.fits else max(end, self.last + self.fine)
        return self._goes_to(goal)

    def _line(self, start: int) -> int | None:
        """The start of the line, if nothing but blanks stands before `start` there."""
        if start >= self.line_end:
            text = self.text
            self.line = line = text.rfind(b"\n", 0, start) + 1
            self.line_end = end = text.find(b"\n", start) + 1 or len(text)
            before = text[line:start].strip(BLANK)
            self.first = None if before and (line or before != MARK) else start
            self.fits = end - line <= self.target and line >= self.text_end
        return self.line if start == self.first else None

    def _inner(self, around: Opened, child: Child) -> Opened | None:
        """How a child is looked into; None: it stays whole."""
        if child.role.text:
            self.text_end = child.end
            return None
        start = child.start if child.line is None else child.line
        if child.end - start + len(BREAK) > self.target:
            return _opened(around, child, around.rank)
        if around.natural and (child.role.holds or _is_all(around, child)):
            return _opened(around, child, around.rank)
        core = child.role.body or (child.field is not None and child.end == around.end)
        if not child.named or not (core or child.line is None):
            return None
        if self.text.find(b"\n", child.start, child.end) < 0:
            return None
        return _opened(around, child, around.rank if core else Rank.BROKEN)


def _opened(around: Opened, child: Child, rank: Rank) -> Opened:
    inner = Opened(around.text, around.roles, around.target, around.natural, end=child.end)
    inner.rank = rank
    inner.error = child.node.is_error
    inner.top = _is_all(around, child)
    inner.single = inner.top and _is_single(child.node, around.roles)
    inner.known = 0 if child.node.id == around.known else around.known
    inner.place = around.place
    inner.nested = around.nested
    inner.level = around.level + (2 if around.level % NESTED < NESTED - 2 else 0)
    if around.declares(child) and (found := declared(child.node, around.roles.language)):
        inner.known = found.node.id
        inner.place = placed(found, around.roles.language, around.place)
        inner.nested = around.nested + 1
        inner.level = inner.nested * NESTED
    return inner


def _is_all(around: Opened, child: Child) -> bool:
    """Whether a child holds all that is in the top of a file, and is no declaration itself."""
    if not (around.top and (around.single or child.role.opens)):
        return False
    return not (around.declares(child) and declared(child.node, around.roles.language))


def _is_single(node: Node, roles: Roles) -> bool:
    """Whether it has one named child, beside comments: all of a C header is inside its guard."""
    named = (each for each in node.children if each.is_named and not roles.of(each).comments)
    return next(named, None) is not None and next(named, None) is None
