"""What a piece is called: after the declaration it starts with, or goes on with."""

from collections.abc import Iterable, Iterator

from splitters.border import Border, Place
from splitters.declared import Found, declared
from splitters.language import Language
from splitters.outline import HOLDERS


def placed(found: Found, language: Language, around: Place | None) -> Place:
    """A declaration's kind and qualified name, and what encloses it."""
    what = found.declared
    kind, name, scope = what.kind, what.name, what.scope
    if around is None:
        return Place(kind, name, "", scope or name)
    if around.kind in HOLDERS and kind in {"function", "prototype"}:
        kind = "method"
    if around.scope:
        before = around.scope + language.joints.get(around.kind, language.joint)
        name, scope = before + name, scope and before + scope
    return Place(kind, name, around.name, scope or name)


class Headings:
    """The headings seen so far of those beside each other: which of them the next one is under."""

    def __init__(self, around: Place | None) -> None:
        self._around = around
        self._ranks: dict[str, int] = {}
        self._going: list[tuple[int, Place]] = []

    def placed(self, found: Found, language: Language) -> Place:
        """The section that a heading begins."""
        mark = found.declared.heading
        rank = int(mark) if mark.isdigit() else self._ranks.setdefault(mark, len(self._ranks) + 1)
        while self._going and self._going[-1][0] >= rank:
            self._going.pop()
        place = placed(found, language, self._going[-1][1] if self._going else self._around)
        self._going.append((rank, place))
        return place


def begun(borders: Iterable[Border], language: Language) -> Iterator[Place]:
    """The declarations that begin at these borders, some twice."""
    before, place = None, None
    for border in borders:
        node = border.node
        if node is None:
            continue
        if node is not before:  # as it is at a border between a comment and what it describes
            before, place = node, node if isinstance(node, Place) else None
            if not isinstance(node, Place) and (found := declared(node, language)):
                place = placed(found, language, border.place)
        if place:
            yield place


def settle(border: Border, language: Language) -> None:
    """Let a border hold no node any more, and so no tree."""
    if border.node is not None:
        border.node = next(begun([border], language), None)
