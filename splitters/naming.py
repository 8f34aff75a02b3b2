"""What a piece is called: after the declaration it starts with, or goes on with."""

from collections.abc import Iterable, Iterator

from splitters.border import Border, Place
from splitters.declared import Found, declared
from splitters.language import Language


def placed(found: Found, language: Language, around: Place | None) -> Place:
    """A declaration's qualified name, and what encloses it."""
    outer = around.scope if around else ""
    name = language.joint.join(filter(None, (outer, found.declared.name)))
    scope = language.joint.join(filter(None, (outer, found.declared.scope)))
    return Place(found.declared.kind, name, outer, scope if found.declared.scope else name)


def begun(borders: Iterable[Border], language: Language) -> Iterator[Place]:
    """The declarations that begin at these borders, each once."""
    seen = 0
    for border in borders:
        if border.node is None or border.node.id == seen:
            continue
        seen = border.node.id
        if found := declared(border.node, language):
            yield placed(found, language, border.place)
