"""Units packed into pieces: full ones, cut where the syntax is shallowest."""

from collections.abc import Iterable, Iterator

from splitters.unit import Unit

FILL = 0.75
"""The part of the target from which a shallower cut is preferred to a fuller piece."""


def packed(units: Iterable[Unit], target: int) -> Iterator[int]:
    """Yield the offsets where a file is cut, both ends of it left out."""
    waiting: list[Unit] = []
    start = 0
    for unit in units:
        while unit.end - start > target:
            cut = _best(waiting, unit, start + int(target * FILL))
            yield cut.start
            start = cut.start
            waiting = [one for one in waiting if one.start > start]
        if unit.start > start:
            waiting.append(unit)


def _best(waiting: list[Unit], last: Unit, enough: int) -> Unit:
    full = [unit for unit in (*waiting, last) if unit.start >= enough]
    if not full:
        return last
    return min(full, key=lambda unit: (unit.level, -unit.start))
