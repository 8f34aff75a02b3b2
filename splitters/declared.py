"""What a node of the syntax declares, as its language's row says."""

from dataclasses import dataclass
from functools import cache

from splitters.language import Declared, Language
from splitters.syntax import Node

WRAPPED = 5
"""Wrappers that are looked through: `export`, a decorator, a declaration of one variable..."""
LONGEST = 120
"""Characters of a name; a heading or a selector may be a paragraph."""


@dataclass(slots=True)
class Found:
    """What is declared, and the node inside the wrappers that does it."""

    declared: Declared
    node: Node


def declared(node: Node, language: Language, wrapped: int = WRAPPED) -> Found | None:
    """What a node, or the single declaration it wraps, declares; None: nothing of note."""
    type_ = node.type
    kind = language.kinds.get(type_)
    if kind is not None and (what := _read(node, type_, kind, language)):
        return Found(what, node)
    if type_ not in language.wrappers or not wrapped:
        return None
    single = None
    for child in node.named_children:
        if found := declared(child, language, wrapped - 1):
            if single:
                return None
            single = found
    return single


def text(node: Node | None) -> str:
    """A node's text on one line."""
    return "" if node is None else decoded(node.text or b"")


def word(node: Node | None) -> str:
    """A node's text; nothing where it is longer than a name.

    Else all of a chain of calls would be read at each of its links.
    """
    return "" if node is None or node.end_byte - node.start_byte > LONGEST else text(node)


def decoded(raw: bytes) -> str:
    """Source text on one line; Latin-1 where it is not UTF-8."""
    try:
        plain = raw.decode()
    except UnicodeDecodeError:
        plain = raw.decode("latin-1")
    return plain if plain.isidentifier() else " ".join(plain.split())


def short(plain: str) -> str:
    """A text that may be long, cut to what a name may be."""
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"


def follow(node: Node, path: str) -> Node | None:
    """The node at a path of fields or child types, such as `key/string|value`."""
    if found := node.child_by_field_name(path):  # as most are
        return found
    if path.isidentifier():  # one step, one way
        return first(node, path)
    for way in _ways(path):
        at: Node | None = node
        for step in way:
            at = at and (at.child_by_field_name(step) or first(at, step))
        if at is not None:
            return at
    return None


@cache
def _ways(path: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(way.split("/")) for way in path.split("|"))


def first(node: Node, *types: str) -> Node | None:
    """The first child of one of these types."""
    for child in node.children:
        if child.type in types:
            return child
    return None


def within(node: Node, *types: str) -> bool:
    """Whether a node's parent is of one of these types."""
    return node.parent is not None and node.parent.type in types


def _read(node: Node, type_: str, kind: str, language: Language) -> Declared | None:
    way = language.names.get(type_, "name")
    if not isinstance(way, str):
        return way(node, kind)
    named = short(text(follow(node, way)))
    return Declared(kind, named) if named else None
