"""The one door to tree-sitter and its grammars."""

from collections.abc import Iterator, Sequence
from functools import cache
from math import inf
from time import thread_time
from typing import NamedTuple

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Range, Tree, TreeCursor

from splitters.language import Language
from splitters.nesting import is_too_deep

__all__ = ["Node", "Nodes", "Tree", "ends_open", "found", "is_followed", "parse", "reparse"]

DEEP = 10_000
"""Levels of a tree in which nodes are looked for; code has hundreds, a sum of many terms more."""
_FAR = frozenset({"rst"})
"""Grammars that look further than tree-sitter knows: 3 in 1,000 edits left another tree there than
a parse of the whole, in no other language any of 1,000."""
_SOON = 64
"""Children without a name, such as a comma, behind which the next one is looked for."""
READ = 1024
"""Bytes that a parser which can be stopped is given at once: of each name it is given so many."""


def parse(
    data: bytes,
    language: Language,
    parts: Sequence[range] = (),
    seconds: float | None = None,
) -> Tree | None:
    """Parse a file, or only some parts of it; what is no valid syntax is in `ERROR` nodes.

    None for what is nested so deep that the grammar's own code would write over foreign memory,
    and for what takes more than `seconds` of this thread's processor time. To look at the clock
    costs 3 to 5 in 100: tree-sitter asks after each hundred of its steps.
    """
    stop = None if seconds is None else thread_time() + seconds
    part = data[parts[0].start : parts[-1].stop] if parts else data
    if is_too_deep(part, language.parser):
        return None
    ranges = [Range((0, 0), (len(data), 0), one.start, one.stop) for one in parts]
    parser = Parser(_grammar(language.parser), included_ranges=ranges)
    if stop is None:
        return parser.parse(data)
    try:
        return parser.parse(
            _Reader(data),
            progress_callback=lambda at, error: thread_time() > stop,
        )
    except ValueError:  # it was stopped, and can do nothing else that raises it
        return None


def ends_open(tree: Tree, language: Language) -> bool:
    """Whether a part of a file is not valid, or ends in what may well go on."""
    root = tree.root_node
    if root.has_error:
        return True
    cursor = tree.walk()
    while language.endless and cursor.goto_last_child():
        last = cursor.node
        if last and last.type in language.endless and last.end_byte == root.end_byte:
            return True
    return False


class _Reader:
    """A text for a parser that can be stopped: a few bytes at a time.

    The last ones are kept: where tree-sitter 0.26.1 reads a node's text by this, it looks at them
    once more when it has let them go. Of large ones the memory is gone then, and the process ends.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._read = b""

    def __call__(self, at: int, point: object) -> bytes:
        self._read = self._data[at : at + READ]
        return self._read


def is_followed(cursor: TreeCursor) -> bool:
    """Whether a named child is next, or soon; a node itself looks for it from the root on."""
    steps, named = 0, False
    while not named and steps < _SOON and cursor.goto_next_sibling():
        steps += 1
        named = cursor.node is not None and cursor.node.is_named
    for _ in range(steps):
        cursor.goto_previous_sibling()
    return named


def reparse(
    tree: Tree, old: bytes, new: bytes, start: int, end: int, language: Language
) -> Tree | None:
    """Parse a text again of which only `start` up to `end` is different now; None as in `parse`.

    Where it is not valid, recovery from its errors may depend on what was there before: then it
    is parsed as a whole.
    """
    if is_too_deep(new, language.parser):
        return None
    if language.parser in _FAR:
        return parse(new, language)
    end_now = end + len(new) - len(old)
    edited = tree.copy()
    edited.edit(start, end, end_now, _point(old, start), _point(old, end), _point(new, end_now))
    parsed = Parser(_grammar(language.parser)).parse(new, edited)
    return parse(new, language) if parsed.root_node.has_error else parsed


def _point(text: bytes, at: int) -> tuple[int, int]:
    return text.count(b"\n", 0, at), at - text.rfind(b"\n", 0, at) - 1


class Nodes(NamedTuple):
    """The nodes that were looked for, in the order of the file, the outer before the inner."""

    found: list[Node]
    whole: bool
    """Whether they are all."""


def found(tree: Tree, language: Language, types: frozenset[str], until: float = inf) -> Nodes:
    """The nodes of these types that are not deeper than `DEEP`.

    From `until` on, by `thread_time`, no more are looked for.
    """
    nodes: list[Node] = []
    whole = True
    query = QueryCursor(_query(language.parser, types)) if types else None
    for part in _parts(tree) if query else ():
        if query and part.inside:
            nodes += query.captures(part.node).get("node", ())
        elif part.node.is_named and part.node.type in types:
            nodes.append(part.node)
        whole = whole and not part.cut
        if thread_time() > until:
            whole = False
            break
    return Nodes(sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)), whole)


class _Part(NamedTuple):
    """A node to be looked at."""

    node: Node
    inside: bool = False
    """With all that is in it."""
    cut: bool = False
    """Something is in it that is not looked at."""


def _parts(tree: Tree) -> Iterator[_Part]:
    """The nodes of a tree, most of them as a part of a larger one.

    A query goes through a tree several times as fast as we could. But at each child of an error,
    which may have a million, it looks at all that follow, and from a depth of 65,536 on it goes
    astray: errors, and what may be so deep, are gone through here.
    """
    cursor = tree.walk()
    left = DEEP
    """Levels below; the cursor would count those above each time it is asked."""
    while True:
        node = cursor.node
        assert node is not None  # only a cursor that was reset to nothing has none
        if not node.has_error and node.descendant_count <= left:
            yield _Part(node, inside=node.child_count > 0)
        else:
            yield _Part(node, cut=left <= 0 and node.child_count > 0)
            if left > 0 and cursor.goto_first_child():
                left -= 1
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            left += 1


@cache
def _query(name: str, types: frozenset[str]) -> Query:
    return Query(_grammar(name), " ".join(f"({type_}) @node" for type_ in sorted(types)))


@cache
def _grammar(name: str) -> Grammar:
    import tree_sitter_language_pack as grammars  # noqa: PLC0415 - 0.06 s, and text needs none

    return grammars.get_language(name)  # type: ignore[arg-type]  # its Literal of names
