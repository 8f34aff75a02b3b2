"""The declarations of a file: what they are called, where they stand, what they hold."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import thread_time

from splitters.declared import declared, decoded, first
from splitters.language import Declared, Language
from splitters.source import Source, read
from splitters.syntax import Node, Tree, found, parse
from splitters.table import TEXT, known

DEEPEST = 50
"""Levels of declarations that are listed; code has fewer, and a reader of the tree may recurse."""
SECONDS = 4.0
"""Of the processor, after the parse. All usual files of 10 MB take less than two; what is nested
without end makes each question about a node's parent as long as it is deep."""
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


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file declares."""

    declarations: tuple[Declaration, ...]
    whole: bool = True
    """Whether that is all: False where declarations are nested deeper than `DEEPEST`, or anything
    deeper than `DEEP` or than the grammar can bear, or where looking for them took more than
    `SECONDS`."""


def outline(data: bytes, language: Language | str | None) -> Outline:
    """The declarations of a file, each with those inside it; text has none.

    `language` is as `split` takes it; raises UnknownLanguageError.
    Of data only the first levels are listed (`Language.depth`), of all languages `DEEPEST`.
    """
    row, source = known(language), read(data)
    if row is TEXT:
        return Outline(())
    if (tree := parse(source.text, row)) is None:
        return Outline((), whole=False)
    reader = _Reader(source.text, row, thread_time() + SECONDS)
    drafts = list(reader.drafts(tree))
    _extend(drafts, len(source.text))
    order = list(_nested(source.text, drafts, row))
    return Outline(_frozen(source, order, row, len(data)), reader.whole)


class _Reader:
    """Goes through what is of note in a file, in its order."""

    def __init__(self, text: bytes, language: Language, until: float) -> None:
        self.whole = True
        self._text = text
        self._language = language
        self._until = until
        """In `thread_time`."""
        self._around: list[int] = []
        """Where the declarations end that the next node is in."""
        self._known: set[int] = set()
        self._above = self._behind = -1
        """Where the comments and attributes begin that may be above the next one, and end."""

    def drafts(self, tree: Tree) -> Iterator[_Draft]:
        """What is declared."""
        row = self._language
        types = frozenset(row.kinds.keys() | row.wrappers | row.attached)
        nodes, self.whole = found(tree, row, types, self._until)
        for node in nodes:
            while self._around and self._around[-1] <= node.start_byte:
                self._around.pop()
            if thread_time() > self._until:
                self.whole = False
                return
            if len(self._around) < (row.depth or DEEPEST):
                yield from self._drafts(node)
            elif not row.depth and node.type not in row.attached:
                self.whole = False

    def _drafts(self, node: Node) -> Iterator[_Draft]:
        """The one that a node begins, if it does."""
        start, end = node.byte_range
        if (what := declared(node, self._language)) is None:
            if node.type in self._language.attached and _begins_line(self._text, start):
                self._above = self._above if self._follows(start) else start
                self._behind = end
            return
        if self._language.depth and self._around and not _begins_line(self._text, start):
            self._around.append(end)  # of data on one line only the first level is listed
            return
        if what.node.id in self._known:
            return
        self._known.add(what.node.id)
        begin = start if what.node == node else _begin(node, self._language)
        above = self._above if self._follows(start) else start
        yield _Draft(what.declared, what.node, begin, start, end, above)
        self._around.append(end)

    def _follows(self, start: int) -> bool:
        """Whether no word and no blank line is between what may be above and a node.

        What does not belong to it belongs to none that comes later; nobody looks there again.
        """
        behind = self._behind
        if not 0 <= behind <= start:
            return False
        apart = self._text[behind:start].strip() or self._text.count(b"\n", behind - 1, start) > 1
        self._behind = -1 if apart else behind
        return not apart


def _begin(wrapper: Node, language: Language) -> int:
    """Where a wrapper begins behind its decorators."""
    return next(one.start_byte for one in wrapper.children if one.type not in language.attached)


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
            gone = around.pop()
            if language.trails:
                gone.end = max(gone.start + 1, min(gone.end, draft.above))
        parent = around[-1] if around else None
        beside = parent.inside if parent else top
        before = beside[-1] if beside else None
        _name(draft, parent, language)
        if before and _same(text, before, draft, language):
            before.end = draft.end
            around.append(before)
            continue
        if parent:  # where syntax is not valid, a heading may be inside what ends before its rest
            draft.end = min(draft.end, parent.end)
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
    most = min(draft.end, draft.begin + 4 * SIGNATURE)
    end = body.start_byte if body else text.find(b"\n", draft.begin, most)
    plain = decoded(text[draft.begin : min(end, most) if end > draft.begin else most])
    plain = SPACED.sub("", plain).rstrip("{:=- \t")
    if draft.declared.heading and not plain:  # a title with a line of signs above it
        plain = draft.declared.name
    return plain if len(plain) <= SIGNATURE else plain[: SIGNATURE - 1].rstrip() + "…"


def _body(node: Node) -> Node | None:
    """The body of a declaration, or of the function that it gives a name to; comments before it
    belong to it."""
    named = node.child_by_field_name("value") or node.child_by_field_name("right")
    for one in (node, named):
        if one is not None and (body := one.child_by_field_name("body") or first(one, *BODIES)):
            beside = one.children
            at = beside.index(body)
            while at and "comment" in beside[at - 1].type:
                at -= 1
            return beside[at]
    return None
