"""The declarations of a file: what they are called, where they stand, what they hold."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from splitters.declared import declared, decoded, first
from splitters.language import Declared, Language
from splitters.source import Source, read
from splitters.syntax import Node, found, parse

DEEPEST = 50
"""Levels of declarations that are listed; code has fewer, and a reader of the tree may recurse."""
SIGNATURE = 160
"""Characters of a signature."""
SPACED = re.compile(r"(?<=[(\[]) |,? (?=[)\]])")
"""What is left of lines that were joined inside brackets."""
BODIES = frozenset({"block", "do_block", "class_body", "function_body", "enum_class_body"})
"""The types before which a signature ends, besides the field `body`."""
HOLDERS = frozenset(
    {"actor", "class", "enum", "extension", "impl", "instance", "interface", "object"}
    | {"protocol", "record", "struct", "trait", "union"}
)
"""A function directly in one of these kinds is a method."""
BREAK = re.compile(rb"\n")


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
    source = read(data)
    drafts = list(_drafts(source.text, language))
    _extend(drafts, len(source.text))
    order = list(_nested(source.text, drafts, language))
    return _frozen(source, order, language, len(data))


def _drafts(text: bytes, language: Language) -> Iterator[_Draft]:
    """What is declared, in the order of the file."""
    types = language.kinds.keys() | language.wrappers | language.attached
    around: list[int] = []
    known: set[int] = set()
    above = behind = -1
    for node in found(parse(text, language), language, frozenset(types)):
        start, end = node.byte_range
        while around and around[-1] <= start:
            around.pop()
        if len(around) >= (language.depth or DEEPEST):
            continue
        if (what := declared(node, language)) is None:
            if node.type in language.attached and _begins_line(text, start):
                above = above if _follows(text, behind, start) else start
                behind = end
            continue
        if language.depth and around and not _begins_line(text, start):
            around.append(end)  # of data on one line only the first level is listed
            continue
        if what.node.id in known:
            continue
        known.add(what.node.id)
        begin = start if what.node == node else _begin(node, language)
        first = above if _follows(text, behind, start) else start
        yield _Draft(what.declared, what.node, begin, start, end, first)
        around.append(end)


def _begin(wrapper: Node, language: Language) -> int:
    """Where a wrapper begins behind its decorators."""
    return next(one.start_byte for one in wrapper.children if one.type not in language.attached)


def _follows(text: bytes, end: int, start: int) -> bool:
    """Whether nothing and no blank line is between two nodes; the first may end in a break."""
    if not 0 <= end <= start or text[end:start].strip():
        return False
    return text.count(b"\n", end - 1, start) < 2


def _begins_line(text: bytes, at: int) -> bool:
    while at and text[at - 1] in b" \t":
        at -= 1
    return not at or text[at - 1] in b"\r\n"


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


def _nested(text: bytes, drafts: list[_Draft], language: Language) -> Iterator[_Draft]:
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
        if before and _same(text, before, draft, language):
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


def _same(text: bytes, before: _Draft, draft: _Draft, language: Language) -> bool:
    return (
        {before.node.type, draft.node.type} <= language.clauses
        and (before.kind, before.name) == (draft.kind, draft.name)
        and not text[before.end : draft.above].strip(b" \t\n\r;")
    )


def _frozen(
    source: Source, order: list[_Draft], language: Language, size: int
) -> tuple[Declaration, ...]:
    """The declarations of the drafts; the last first, so that each finds its children made."""
    text, width = source.text, source.width
    for draft in order:
        draft.end = _trimmed(text, draft.start, draft.end)
    lines = [0, *(one.end() for one in BREAK.finditer(text))]
    made: dict[int, Declaration] = {}
    inner = {id(one) for draft in order for one in draft.inside}
    for draft in reversed(order):
        made[id(draft)] = Declaration(
            draft.kind,
            draft.name,
            draft.start * width,
            min(draft.end * width, size),
            bisect_right(lines, draft.start),
            bisect_right(lines, max(draft.start, draft.end - 1)),
            tuple(made.pop(id(one)) for one in draft.inside),
            _signature(text, draft, language),
            draft.above * width,
        )
    return tuple(made[id(draft)] for draft in order if id(draft) not in inner)


def _trimmed(text: bytes, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in b" \t\n\r\f\v":
        end -= 1
    return end


def _signature(text: bytes, draft: _Draft, language: Language) -> str:
    """How something is declared, up to its body or the end of the line; of data, on one line."""
    body = None if language.depth else _body(draft.node)
    while body and body.prev_sibling and "comment" in body.prev_sibling.type:
        body = body.prev_sibling
    most = min(draft.end, draft.begin + 4 * SIGNATURE)
    end = body.start_byte if body else text.find(b"\n", draft.begin, most)
    plain = decoded(text[draft.begin : min(end, most) if end > draft.begin else most])
    plain = SPACED.sub("", plain).rstrip("{:=- \t")
    return plain if len(plain) <= SIGNATURE else plain[: SIGNATURE - 1].rstrip() + "…"


def _body(node: Node) -> Node | None:
    """The body of a declaration, or of the function that it gives a name to."""
    named = node.child_by_field_name("value") or node.child_by_field_name("right")
    for one in (node, named):
        if one is not None and (body := one.child_by_field_name("body") or first(one, *BODIES)):
            return body
    return None
