"""An outline as lines, for a person or a model: where each declaration is, and what it is."""

import re
from collections.abc import Iterator, Sequence

from orchestrator.screen import Ink, cut, visible
from splitters import Declaration

_JOINT = re.compile(r"[.:#/]+ ?")
"""What stands between the parts of a qualified name, in one language or another."""
_WIDTH = 120
"""Characters of a declaration that are shown."""


def lines(declarations: Sequence[Declaration], depth: int, ink: Ink) -> list[str]:
    """One line for each, indented by its nesting; the first and last lines stand in front."""
    rows = list(_rows(declarations, depth, 0))
    width = max((len(_span(one)) for one, _ in rows), default=0)
    return [
        f"{ink.dim(_span(one).rjust(width))}  {'  ' * level}{_title(one, ink)}".rstrip()
        for one, level in rows
    ]


def _rows(
    declarations: Sequence[Declaration], depth: int, level: int
) -> Iterator[tuple[Declaration, int]]:
    for one in declarations:
        yield one, level
        if level + 1 < depth:
            yield from _rows(one.children, depth, level + 1)


def _title(one: Declaration, ink: Ink) -> str:
    """How it is declared, with its own name in bold; without that its kind and name."""
    name, signature = _shown(_JOINT.split(one.name)[-1]), _shown(one.signature)
    if not signature:
        return f"{ink.cyan(_shown(one.kind))} {ink.bold(_shown(one.name))}"
    before, found, after = signature.partition(name) if name else (signature, "", "")
    return f"{before}{ink.bold(found)}{after}"


def _span(one: Declaration) -> str:
    return (
        f"{one.first_line}-{one.last_line}"
        if one.last_line > one.first_line
        else f"{one.first_line}"
    )


def _shown(name: str) -> str:
    return cut(visible(" ".join(name.split())), _WIDTH)
