"""The declarations of a file: what they are called, where they stand, what they hold."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from splitters.declared import declared, decoded, follow
from splitters.language import Declared, Language
from splitters.syntax import Node, parse

DEEPEST = 50
"""Levels of declarations that are listed; code has fewer, and a reader of the tree may recurse."""
SIGNATURE = 160
"""Characters of a signature."""
BODIES = "body|block|do_block|class_body|function_body|enum_class_body|content"
"""The fields and types before which a signature ends."""
HOLDERS = frozenset(
    {"actor", "class", "enum", "extension", "impl", "instance", "interface", "object"}
    | {"protocol", "record", "struct", "trait", "union"}
)
"""A function directly in one of these kinds is a method."""
BREAK = re.compile(rb"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A named part of a file; offsets are bytes, lines count from 1."""

    kind: str
    name: str
    """Qualified by what encloses it: `Class.method`."""
    start: int
    """Its first byte: of its decorators, annotations or `export`, but not of a comment above."""
    end: int
    first_line: int
    last_line: int
    children: tuple["Declaration", ...] = ()
    signature: str = ""
    """How it is declared, up to its body, on one line and cut when long."""
    above: int = 0
    """Where the comments and attributes begin that stand directly above it; else its start."""


@dataclass(slots=True)
class _Draft:
    """A declaration that is still being read."""

    declared: Declared
    node: Node
    begin: int
    """Where its signature begins: behind the decorators."""
    start: int
    end: int
    above: int
    name: str = ""
    kind: str = ""
    scope: str = ""
    inside: "list[_Draft]" = field(default_factory=list)


def outline(data: bytes, language: Language) -> tuple[Declaration, ...]:
    """The declarations of a file, each with those inside it.

    Of data only the first levels are listed (`Language.depth`), of all languages `DEEPEST`.
    """
    drafts = list(_drafts(data, parse(data, language).root_node, language))
    _extend(drafts, len(data))
    order = list(_nested(data, drafts, language))
    starts = [0, *(found.end() for found in BREAK.finditer(data))]
    return _frozen(data, order, starts)


def _drafts(data: bytes, root: Node, language: Language) -> Iterator[_Draft]:
    """What is declared, in the order of the file; by a stack, since syntax may be very deep."""
    todo = [(root, root.start_byte, 1)]
    while todo:
        node, above, level = todo.pop()
        if found := declared(node, language):
            if language.depth and level > 1 and not _begins_line(data, node.start_byte):
                continue
            begin = next(one for one in node.children or [node] if not _attaches(one, language))
            start = node.start_byte
            yield _Draft(found.declared, found.node, begin.start_byte, start, node.end_byte, above)
            node, level = found.node, level + 1
        if level <= (language.depth or DEEPEST):
            inner = _children(data, node, language)
            todo += [(child, at, level) for child, at in reversed(list(inner))]


def _children(data: bytes, node: Node, language: Language) -> Iterator[tuple[Node, int]]:
    """The children to look into, and where what is attached to each begins."""
    above: int | None = None
    behind = 0
    for child in node.named_children:
        if above is not None and _apart(data, behind, child.start_byte):
            above = None
        behind = child.end_byte
        if _attaches(child, language):
            if above is None and _begins_line(data, child.start_byte):
                above = child.start_byte
            continue
        yield child, child.start_byte if above is None else above
        above = None


def _attaches(node: Node, language: Language) -> bool:
    return node.type in language.attached and declared(node, language) is None


def _apart(data: bytes, end: int, start: int) -> bool:
    """Whether a blank line stands between two nodes, of which the first may end in a break."""
    ended = data[end - 1 : end] in (b"\n", b"\r")
    return len(BREAK.findall(data, end, start)) + ended > 1


def _begins_line(data: bytes, at: int) -> bool:
    while at and data[at - 1] in b" \t\0":
        at -= 1
    return not at or data[at - 1] in b"\r\n"


def _extend(drafts: list[_Draft], size: int) -> None:
    """Let each heading go on to the next of its rank."""
    ranks: dict[str, int] = {}
    going: list[tuple[int, _Draft]] = []
    for draft in drafts:
        mark = draft.declared.heading
        if not mark:
            continue
        rank = int(mark) if mark.isdigit() else ranks.setdefault(mark, len(ranks) + 1)
        while going and going[-1][0] >= rank:
            going.pop()[1].end = draft.above
        going.append((rank, draft))
    for _, draft in going:
        draft.end = size


def _nested(data: bytes, drafts: list[_Draft], language: Language) -> Iterator[_Draft]:
    """The drafts, named and put inside each other; clauses of one name as one."""
    around: list[_Draft] = []
    top: list[_Draft] = []
    for draft in drafts:
        while around and around[-1].end <= draft.start:
            around.pop()
        parent = around[-1] if around else None
        beside = parent.inside if parent else top
        before = beside[-1] if beside else None
        _name(draft, parent, language)
        if before and _same(data, before, draft, language):
            before.end = draft.end
            around.append(before)
            continue
        beside.append(draft)
        around.append(draft)
        yield draft


def _name(draft: _Draft, parent: _Draft | None, language: Language) -> None:
    what = draft.declared
    joint = language.joints.get(parent.kind, language.joint) if parent else ""
    scope = parent.scope + joint if parent and parent.scope else ""
    held = parent is not None and parent.kind in HOLDERS
    draft.kind = "method" if held and what.kind in {"function", "prototype"} else what.kind
    draft.name = scope + what.name
    draft.scope = scope + what.scope if what.scope else draft.name


def _same(data: bytes, before: _Draft, draft: _Draft, language: Language) -> bool:
    return (
        {before.node.type, draft.node.type} <= language.clauses
        and (before.kind, before.name) == (draft.kind, draft.name)
        and not data[before.end : draft.above].strip()
    )


def _frozen(data: bytes, order: list[_Draft], starts: list[int]) -> tuple[Declaration, ...]:
    """The declarations of the drafts; the last first, so that each finds its children made."""
    made: dict[int, Declaration] = {}
    inner = {id(one) for draft in order for one in draft.inside}
    for draft in reversed(order):
        made[id(draft)] = Declaration(
            draft.kind,
            draft.name,
            draft.start,
            draft.end,
            bisect_right(starts, draft.start),
            bisect_right(starts, max(draft.start, draft.end - 1)),
            tuple(made.pop(id(one)) for one in draft.inside),
            _signature(data, draft),
            draft.above,
        )
    return tuple(made[id(draft)] for draft in order if id(draft) not in inner)


def _signature(data: bytes, draft: _Draft) -> str:
    """How something is declared, up to its body or the end of the line."""
    body = _body(draft.node) or _body(draft.node.child_by_field_name("value"))
    body = body or _body(draft.node.child_by_field_name("right"))
    while body and body.prev_sibling and "comment" in body.prev_sibling.type:
        body = body.prev_sibling
    end = body.start_byte if body else -1
    if end <= draft.begin:
        found = BREAK.search(data, draft.begin)
        end = min(draft.end, found.start() if found else len(data))
    plain = decoded(data[draft.begin : min(end, draft.begin + 4 * SIGNATURE)])
    plain = plain.rstrip("{:=- \t")
    return plain if len(plain) <= SIGNATURE else plain[: SIGNATURE - 1].rstrip() + "…"


def _body(node: Node | None) -> Node | None:
    return follow(node, BODIES) if node is not None else None
