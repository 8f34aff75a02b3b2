"""The borders of a parsed file: only nodes that are larger than the target are looked into."""

import re
from collections.abc import Iterator
from functools import cache

from splitters.border import Border, Rank
from splitters.declared import declared
from splitters.language import Language
from splitters.naming import placed
from splitters.opened import Child, Opened
from splitters.syntax import Node, Tree

MARK = b"\xef\xbb\xbf"
NEWLINE = 10
BLANK = b" \t\f\v"
BLANK_OR_RETURN = BLANK + b"\r"
TEXTS = re.compile("string|comment|heredoc|fenced|code_block|raw_text|template_literal|regex")
LISTS = re.compile("concatenated|list")


def borders(
    tree: Tree, text: bytes, language: Language, target: int, natural: bool
) -> Iterator[Border]:
    """Where a file may be cut, in order.

    A cursor, and no recursion: no depth of nesting is too deep, no number of children too many.
    """
    cursor = tree.walk()
    root = tree.root_node
    top = Opened(language, target, natural, top=True, error=root.is_error, items=True)
    top.alone = root.named_child_count == 1
    path = [top] if cursor.goto_first_child() else []
    last = -1
    while path:
        node = cursor.node
        assert node is not None  # only a cursor that was reset to nothing has none
        child = _child(text, node, cursor.field_id)
        if child.end > child.start:
            for border in path[-1].borders(child):
                if border.at > last:
                    yield border if last >= 0 else border._replace(at=0)
                    last = border.at
        inner = _inner(path[-1], child, text)
        if inner is not None and cursor.goto_first_child():
            path.append(inner)
            continue
        while path and not cursor.goto_next_sibling():
            for border in path.pop().rest():
                if border.at > last:
                    yield border
                    last = border.at
            cursor.goto_parent()


def _child(text: bytes, node: Node, field: int | None) -> Child:
    start = line = node.start_byte
    while line and text[line - 1] in BLANK:
        line -= 1
    if line == len(MARK) and text.startswith(MARK):
        line = 0
    at = line if not line or text[line - 1] == NEWLINE else None
    blank = at is not None and _after_blank(text, at)
    return Child(node, node.type, node.is_named, start, node.end_byte, field, at, blank)


def _after_blank(text: bytes, line: int) -> bool:
    at = line - 2
    while at >= 0 and text[at] in BLANK_OR_RETURN:
        at -= 1
    return at < 0 or text[at] == NEWLINE


def _inner(around: Opened, child: Child, text: bytes) -> Opened | None:
    """How a child is looked into; None: it stays whole."""
    rank = around.rank
    if child.end - child.start <= around.target:
        if child.line is None and child.named and text.find(b"\n", child.start, child.end) >= 0:
            rank = Rank.BROKEN
        elif not (around.natural and (around.is_section(child) or _is_all(around, child))):
            return None
    if _is_text(child.type):
        return None
    return _opened(around, child, rank)


def _opened(around: Opened, child: Child, rank: Rank) -> Opened:
    inner = Opened(around.language, around.target, around.natural, rank=rank)
    inner.error = child.node.is_error
    inner.top = around.natural and _is_all(around, child)
    inner.alone = around.natural and child.node.named_child_count == 1
    inner.known, inner.place = around.known, around.place
    inner.nested, inner.depth = around.nested, around.depth + 1
    if around.declares(child) and (found := declared(child.node, around.language)):
        inner.known = found.node.id
        inner.place = placed(found, around.language, around.place)
        inner.nested, inner.depth = around.nested + 1, 0
    return inner


def _is_all(around: Opened, child: Child) -> bool:
    return around.top and around.alone and not around.declares(child)


@cache
def _is_text(kind: str) -> bool:
    return bool(TEXTS.search(kind)) and not LISTS.search(kind)
