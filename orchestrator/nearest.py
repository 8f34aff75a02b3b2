"""The lines of a file that are most like what was looked for and not found."""

import difflib

_SHOWN_LINES = 12
_SHOWN_WIDTH = 200
_COMPARED_LINES = 10_000
"""Of a longer file only the first lines are searched for something similar: about 0.3 s."""


def nearest(text: bytes, wanted: str, first: int = 1) -> str:
    """Show, numbered from `first`, the lines like the wanted ones; empty if there are none."""
    lines = text.decode("utf-8", "replace").split("\n", _COMPARED_LINES)[:_COMPARED_LINES]
    return _shown(
        [_clip(line) for line in lines], [_clip(line) for line in wanted.split("\n")], first
    )


def _clip(line: str) -> str:
    return line.rstrip("\r")[:_SHOWN_WIDTH]


def _shown(lines: list[str], wanted: list[str], first: int) -> str:
    """The longest of the wanted lines finds the place."""
    probe = max(range(len(wanted)), key=lambda number: len(wanted[number].strip()))
    stripped = [line.strip() for line in lines]
    alike = difflib.get_close_matches(wanted[probe].strip(), sorted(set(stripped) - {""}))
    starts = [max(0, n - probe) for n, line in enumerate(stripped) if line in alike]
    if not starts:
        return ""
    size = min(len(wanted), _SHOWN_LINES)
    target = "\n".join(wanted[:size])

    def likeness(start: int) -> float:
        return difflib.SequenceMatcher(None, target, "\n".join(lines[start : start + size])).ratio()

    best = max(starts[:50], key=likeness)
    shown = lines[best : best + size]
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(shown, best + first))
