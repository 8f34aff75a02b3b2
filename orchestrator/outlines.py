"""An outline as lines, for a person or a model: where each declaration is, and what it is."""

from collections.abc import Iterator, Sequence

from orchestrator.screen import Ink, cut, visible
from splitters import Declaration

_WIDTH = 120
"""Characters of a name that is shown."""


def lines(declarations: Sequence[Declaration], depth: int, ink: Ink) -> list[str]:
    """One line for each, indented by its nesting; the first and last lines stand in front."""
    rows = list(_rows(declarations, depth, 0, ""))
    width = max((len(_span(one)) for one, _, _ in rows), default=0)
    return [
        f"{ink.dim(_span(one).rjust(width))}  {'  ' * level}{ink.cyan(_shown(one.kind))}"
        f" {ink.bold(_shown(name))}".rstrip()
        for one, level, name in rows
    ]


def _rows(
    declarations: Sequence[Declaration], depth: int, level: int, parent: str
) -> Iterator[tuple[Declaration, int, str]]:
    for one in declarations:
        yield one, level, one.name.removeprefix(f"{parent}.")
        if level + 1 < depth:
            yield from _rows(one.children, depth, level + 1, one.name)


def _span(one: Declaration) -> str:
    return (
        f"{one.first_line}-{one.last_line}"
        if one.last_line > one.first_line
        else f"{one.first_line}"
    )


def _shown(name: str) -> str:
    return cut(visible(" ".join(name.split())), _WIDTH)
