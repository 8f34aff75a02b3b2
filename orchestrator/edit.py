"""Exact replacement in a file's bytes: pure, all or nothing, every other byte stays as it was."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from orchestrator.nearest import nearest

_LINE_BREAK = rb"(?:\r\n|(?<!\r)\n)"


@dataclass(frozen=True, slots=True)
class EditProblem:
    """Why nothing was replaced, told so that the next attempt can succeed."""

    message: str


def replace(
    text: bytes, old: str, new: str, all: bool = False, *, part_from: int | None = None
) -> bytes | EditProblem:
    r"""Replace the only occurrence of `old` by `new`, or every one with `all`.

    A `\n` in `old` matches the file's own line break, LF or CRLF, and a `\n` in `new` becomes the
    line break used at that place; texts that hold a `\r` are taken as they are. `part_from` is the
    line of the file that a text begins with which is only a part of it.
    """
    if not old:
        instead = "use write_file" if part_from is None else "leave it out"
        return EditProblem(f"The old text is empty; to fill a file {instead}.")
    if old == new:
        return EditProblem("The old and the new text are the same; nothing would change.")
    literal = "\r" in old + new or b"\r\n" not in text
    pattern = _pattern(old.encode(), literal)
    found = len(list(islice(_places(pattern, text), 2)))
    if found == 0:
        return EditProblem(_not_found(text, old, part_from or 1))
    if found > 1 and not all:
        return EditProblem(_several(pattern, text, part_from))
    inserted = new.encode()
    if literal or b"\n" not in inserted:
        return pattern.sub(lambda _: inserted, text)
    return pattern.sub(lambda at: inserted.replace(b"\n", _line_break(text, at.start())), text)


def _pattern(old: bytes, literal: bool) -> re.Pattern[bytes]:
    if literal:
        return re.compile(re.escape(old))
    return re.compile(_LINE_BREAK.join(map(re.escape, old.split(b"\n"))))


def _places(pattern: re.Pattern[bytes], text: bytes) -> Iterator[int]:
    """Yield where the pattern matches, overlapping ones too: `aa` is not unique in `aaa`."""
    place = pattern.search(text)
    while place:
        yield place.start()
        place = pattern.search(text, place.start() + 1)


def _line_break(text: bytes, start: int) -> bytes:
    """The line break that ends the line at `start`; at the last line, the one before it."""
    end = text.find(b"\n", start)
    if end < 0:
        end = text.rfind(b"\n", 0, start)
    return b"\r\n" if text[end - 1 : end] == b"\r" else b"\n"


def _several(pattern: re.Pattern[bytes], text: bytes, part_from: int | None) -> str:
    places = list(_places(pattern, text))
    lines = [str(text.count(b"\n", 0, start) + (part_from or 1)) for start in places[:10]]
    more = ", ..." if len(places) > 10 else ""
    way = "; add surrounding lines to make it unique"
    way += ", or set replace_all." if part_from is None else "."
    return f"The old text occurs {len(places)} times, at lines {', '.join(lines)}{more}{way}"


def _not_found(text: bytes, old: str, first: int) -> str:
    advice = "The old text occurs 0 times; copy it exactly, with its indentation."
    near = nearest(text, old, first)
    return f"{advice} Nearest lines:\n{near}" if near else advice
