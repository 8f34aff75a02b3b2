"""What a piece is called: after the declaration it starts with, or goes on with."""

from collections.abc import Iterable, Iterator

from splitters.border import Border, Place
from splitters.declared import Found, declared
from splitters.language import Language
from splitters.outline import HOLDERS


def placed(found: Found, language: Language, around: Place | None) -> Place:
    """A declaration's kind and qualified name, and what encloses it."""
    what = found.declared
    before = around.scope + language.joints.get(around.kind, language.joint) if around else ""
    before = before if around and around.scope else ""
    held = around is not None and around.kind in HOLDERS
    kind = "method" if held and what.kind in {"function", "prototype"} else what.kind
    name = before + what.name
    scope = before + what.scope if what.scope else name
    return Place(kind, name, around.name if around else "", scope)


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
    for border in borders:
        if isinstance(border.node, Place):
            yield border.node
        elif border.node and (found := declared(border.node, language)):
            yield placed(found, language, border.place)


def settled(border: Border, language: Language) -> Border:
    """A border that holds no node any more, and so no tree."""
    if border.node is None:
        return border
    return border._replace(node=next(begun([border], language), None))
