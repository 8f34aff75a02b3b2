"""The borders of a parsed file: only nodes that are larger than the target are looked into."""

from collections.abc import Iterator, Sequence

from splitters.border import Border, Rank
from splitters.declared import declared
from splitters.language import Language
from splitters.naming import placed
from splitters.opened import NESTED, Child, Opened
from splitters.roles import Roles
from splitters.syntax import Tree

MARK = b"\xef\xbb\xbf"
NEWLINE = 10
BLANK = b" \t\f\v"
BREAK = b"\r\n"
PLAIN = 2
"""Children in a row without a border, from which on others like them are skipped."""
FINE = 64
"""Borders within a line that a piece has at least, where it is of many small nodes."""


def borders(
    tree: Tree, text: bytes, language: Language, target: int, natural: bool
) -> Iterator[Border]:
    """Where a file may be cut, in order; a place may come twice, first with the better border."""
    found = _Walk(tree, text, language, target, natural).borders()
    first = next(found, None)
    if first is not None:
        yield first._replace(at=0)
        yield from found


class _Walk:
    """A cursor's way through the opened nodes: no depth overflows it, no number of children."""

    def __init__(
        self, tree: Tree, text: bytes, language: Language, target: int, natural: bool
    ) -> None:
        root = tree.root_node
        self.cursor = tree.walk()
        self.text = text
        self.target = target
        self.fine = target // FINE
        self.small = target - len(BREAK)
        self.roles = Roles(language)
        top = Opened(text, self.roles, target, natural, top=natural, items=True)
        top.error = root.is_error
        top.single = root.named_child_count == 1
        self.path = [top]
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

    def borders(self) -> Iterator[Border]:
        """The borders before the children of opened nodes, and of what leads them."""
        cursor, path, text = self.cursor, self.path, self.text
        if not cursor.goto_first_child():
            return
        plain = 0
        while path:
            node, around = cursor.node, path[-1]
            assert node is not None  # only a cursor that was reset to nothing has none
            start, end = node.byte_range
            if end <= self.line_end and start != self.first and self._is_plain(start, end):
                if node.is_named:
                    around.seen(cursor.field_id)
                plain += 1
                # The children of an error are no balanced tree: to jump there is to search.
                if plain > PLAIN and around.items and not around.error and self._skip(end):
                    continue
            elif start < end:
                plain = 0
                line = start if not start or text[start - 1] == NEWLINE else self._line(start)
                role, field = self.roles.of(node), cursor.field_id
                found: Sequence[Border]
                inner = None
                usual = role.usual and field is None and around.quick
                if usual and line is not None and end - line <= self.small:
                    found = (around.before(node, role, line),)
                    self.text_end = end if role.text else self.text_end
                else:
                    child = Child(node, role, node.is_named, start, end, field, line)
                    found = around.borders(child)
                    inner = self._inner(around, child)
                for border in found:
                    if border.at >= self.last and not (self.fits and border.rank is Rank.WITHIN):
                        self.last = border.at
                        yield border
                if inner and cursor.goto_first_child():
                    path.append(inner)
                    continue
            while path and not cursor.goto_next_sibling():
                yield from (one for one in path.pop().rest() if one.at >= self.last)
                cursor.goto_parent()

    def _is_plain(self, start: int, end: int) -> bool:
        """Whether a child within a line has no border before it, and none inside it."""
        if self.path[-1].waiting:
            return False
        return self.fits or (start - self.last < self.fine and end - start <= self.target)

    def _skip(self, end: int) -> bool:
        """Go to the next child that is not plain; in a list of many that costs as much as two."""
        goal = self.line_end if self.fits else max(end, self.last + self.fine)
        self.cursor.goto_parent()
        if self.cursor.goto_first_child_for_byte(goal) is not None:
            return True
        self.cursor.goto_last_child()
        return False

    def _line(self, start: int) -> int | None:
        """The start of the line, if nothing but blanks stands before `start` there."""
        if start >= self.line_end:
            self.line = self.text.rfind(b"\n", 0, start) + 1
            self.line_end = self.text.find(b"\n", start) + 1 or len(self.text)
            before = self.text[self.line : start]
            before = before if self.line else before.removeprefix(MARK)
            self.first = None if before.strip(BLANK) else start
            self.fits = self.line_end - self.line <= self.target and self.line >= self.text_end
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
    inner.single = around.natural and child.node.named_child_count == 1
    inner.known, inner.place = around.known, around.place
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
