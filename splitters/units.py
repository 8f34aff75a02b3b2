"""The units of a parsed file: only what is larger than the target is looked into."""

from collections.abc import Iterator

from splitters.language import Language
from splitters.syntax import Node
from splitters.unit import Unit, lines


def units(data: bytes, root: Node, language: Language, target: int) -> Iterator[Unit]:
    """Cover a file with units, in order."""
    todo: list[tuple[list[Node], int, int, int, int]] = [([root], 0, len(data), 0, 0)]
    while todo:
        nodes, start, end, level, depth = todo.pop()
        if end - start <= target and depth:
            yield Unit(start, end, level)
            continue
        nodes, depth = _opened(nodes, depth)
        starts = _starts(data, nodes, language)
        if not starts:
            if len(nodes) == 0:
                yield from lines(data, start, end, target, level)
                continue
            largest = max(nodes, key=lambda node: node.end_byte - node.start_byte)
            if largest.end_byte - largest.start_byte <= target:
                yield from lines(data, start, end, target, level)
            else:
                todo.append(([largest], start, end, level, depth))
            continue
        todo += reversed(list(_spans(nodes, starts, start, end, level, depth)))


def _opened(nodes: list[Node], depth: int) -> tuple[list[Node], int]:
    if len(nodes) > 1:
        return nodes, depth
    return nodes[0].children, depth + 1


def _spans(
    nodes: list[Node], starts: list[tuple[int, int]], start: int, end: int, level: int, depth: int
) -> Iterator[tuple[list[Node], int, int, int, int]]:
    first = 0
    for index, at in [*starts, (len(nodes), end)]:
        yield nodes[first:index], start, at, level, depth
        first, start, level = index, at, depth - 1


def _starts(data: bytes, nodes: list[Node], language: Language) -> list[tuple[int, int]]:
    """Where a line starts with a node that may begin a unit, by the node's index."""
    found: list[tuple[int, int]] = []
    group: tuple[int, int] | None = None
    before = False
    for index, node in enumerate(nodes):
        at = _line_start(data, node.start_byte)
        if at is None or not node.is_named:
            continue
        if node.type in language.attached:
            if group is None:
                group = index, at
            continue
        if before:
            found.append(group or (index, at))
        before, group = True, None
    return found


def _line_start(data: bytes, at: int) -> int | None:
    """The start of the line, when only blanks stand before `at` in it."""
    while at and data[at - 1] in b" \t":
        at -= 1
    return at if not at or data[at - 1] in b"\r\n" else None
