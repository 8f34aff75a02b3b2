"""Globs as `.gitignore` writers know them, on casefolded paths, in time linear in the path.

A pattern without a slash fits a name at any depth, one with a slash starts at the root; `**` stands
for any number of folders; what fits a folder fits everything below it. Case does not count, since
`.GITHUB` is `.github` on two of three desktops.
"""

import fnmatch
import re
from dataclasses import dataclass
from functools import cache

Step = re.Pattern[str] | None
"""One part of a rooted pattern; None is `**`."""


@dataclass(frozen=True, slots=True)
class Globs:
    """A compiled list of patterns; see `compile_globs`."""

    names: re.Pattern[str] | None
    rooted: tuple[tuple[Step, ...], ...]

    def fit(self, path: bytes) -> bool:
        """True when a pattern fits the path or one of its folders."""
        parts = tuple(_fold(part) for part in path.split(b"/"))
        if self.names is not None and any(map(self.names.match, parts)):
            return True
        return any(_reaches(steps, parts) for steps in self.rooted)


@cache
def compile_globs(*patterns: str) -> Globs:
    """Compile the patterns; they are checked where they are read (`settings.Policy`)."""
    folded = [pattern.casefold().rstrip("/") for pattern in patterns]
    names = [fnmatch.translate(pattern) for pattern in folded if "/" not in pattern]
    rooted = tuple(_steps(pattern) for pattern in folded if "/" in pattern)
    return Globs(re.compile("|".join(names)) if names else None, rooted)


def _fold(part: bytes) -> str:
    """Fold one name as the most forgiving file system does; Windows drops trailing dots, spaces."""
    return part.decode("utf-8", "surrogateescape").casefold().rstrip(". ")


def _steps(pattern: str) -> tuple[Step, ...]:
    parts = pattern.strip("/").split("/")
    return tuple(None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts)


def _reaches(steps: tuple[Step, ...], parts: tuple[str, ...]) -> bool:
    """Walk all readings of `**` at once: backtracking would let a policy file stall the host."""
    positions = _skip({0}, steps)
    for part in parts:
        positions = _skip({after for at in positions for after in _advance(steps, at, part)}, steps)
        if len(steps) in positions:
            return True
    return False


def _advance(steps: tuple[Step, ...], at: int, part: str) -> tuple[int, ...]:
    step = steps[at]
    if step is None:
        return (at,)
    return (at + 1,) if step.match(part) else ()


def _skip(positions: set[int], steps: tuple[Step, ...]) -> set[int]:
    """Add the positions behind `**`, which may stand for no folder at all."""
    for at, step in enumerate(steps):
        if step is None and at in positions:
            positions.add(at + 1)
    return positions
