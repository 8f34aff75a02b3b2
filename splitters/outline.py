"""The declarations of a file: what they are called, where they stand, what they hold."""

from dataclasses import dataclass

from splitters.language import Language
from splitters.syntax import Node, parse


@dataclass(frozen=True, slots=True)
class Declaration:
    """A named part of a file; offsets are bytes, lines count from 1."""

    kind: str
    name: str
    """Qualified by what encloses it: `Class.method`."""
    start: int
    end: int
    first_line: int
    last_line: int
    children: tuple["Declaration", ...] = ()


def outline(data: bytes, language: Language) -> tuple[Declaration, ...]:
    """The top-level declarations of a file, with those inside them."""
    return tuple(_declared(parse(data, language).root_node, language, ""))


def name(node: Node) -> str:
    """What a declaration is called, without what encloses it; may be empty."""
    inner: Node | None = node
    while inner is not None:
        named = inner.child_by_field_name("name")
        if named is not None:
            return (named.text or b"").decode("utf-8", "replace")
        if inner.type == "identifier":
            return (inner.text or b"").decode("utf-8", "replace")
        inner = inner.child_by_field_name("declarator")
    return ""


def _declared(node: Node, language: Language, parent: str) -> list[Declaration]:
    found = []
    for child in node.named_children:
        kind = language.kinds.get(child.type)
        if kind is None:
            found += _declared(child, language, parent)
            continue
        qualified = ".".join(filter(None, (parent, name(child))))
        found.append(
            Declaration(
                kind,
                qualified,
                child.start_byte,
                child.end_byte,
                child.start_point.row + 1,
                child.end_point.row + 1,
                tuple(_declared(child, language, qualified)),
            )
        )
    return found
