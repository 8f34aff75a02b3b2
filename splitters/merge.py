"""Edited pieces put together again: pure, and nothing that was apart becomes one line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from splitters.form import encoding, line_ending, mark

_OWN = {"crlf": b"\r\n", "cr": b"\r"}


@dataclass(frozen=True, slots=True)
class Merged:
    """The whole, and the pieces (from 1) that got something back which an editor had lost."""

    data: bytes
    restored: tuple[int, ...] = ()


def merge(base: Sequence[bytes], edited: Sequence[bytes]) -> Merged:
    r"""Join the edited pieces of a file whose pieces were `base`.

    Given back are what text editors and tools lose without being asked: the line break at the end
    of a piece before another one, the byte order mark, and in a file with CRLF or CR alone those
    line breaks, where a piece comes back with `\n`. A line break at the end of a piece that was cut
    inside a line is taken off; that of a piece which was emptied stays, where it is the end of a
    line that began before. All else is taken as it is.
    """
    if len(base) != len(edited):
        raise ValueError(f"There are {len(base)} pieces, and {len(edited)} edited ones.")
    whole = b"".join(base)
    breaks = _breaks(whole)
    text = encoding(whole) in ("utf-8", "utf-8-sig", "8-bit")
    own = _OWN.get(line_ending(whole), b"") if text else b""
    parts: list[bytes] = []
    last = max((number for number, part in enumerate(edited) if part), default=-1)
    for number, (old, new) in enumerate(zip(base, edited, strict=True)):
        if new == old:
            parts.append(new)
            continue
        if not new:
            parts.append(_ending(old, parts, breaks) if number < last else new)
            continue
        kept = _with_endings(new, own) if own else new
        parts.append(_apart(old, kept, breaks) if number < last else kept)
    parts = _marked(mark(whole), parts)
    changed = (number for number, part in enumerate(parts) if part != edited[number])
    return Merged(b"".join(parts), tuple(number + 1 for number in changed))


def _breaks(data: bytes) -> tuple[bytes, ...]:
    """The line breaks in the file's encoding, the longest first."""
    name = encoding(data)
    codec = name if name.startswith(("utf-16", "utf-32")) else "ascii"
    return tuple(each.encode(codec) for each in ("\r\n", "\n", "\r"))


def _with_endings(part: bytes, own: bytes) -> bytes:
    return re.sub(rb"\r\n|\n", own, part) if own == b"\r" else re.sub(rb"(?<!\r)\n", own, part)


def _apart(old: bytes, new: bytes, breaks: tuple[bytes, ...]) -> bytes:
    """A piece before another one: it ends as it did, with a line break or inside a line."""
    before = next(filter(old.endswith, breaks), b"")
    after = next(filter(new.endswith, breaks), b"")
    if before and not after:
        return new + before
    return new if before else new.removesuffix(after)


def _ending(old: bytes, before: Sequence[bytes], breaks: tuple[bytes, ...]) -> bytes:
    """What is left of an emptied piece: its line break, if what is before it ends inside a line."""
    end = next((part for part in reversed(before) if part), b"")
    return b"" if not end or end.endswith(breaks) else next(filter(old.endswith, breaks), b"")


def _marked(bom: bytes, parts: list[bytes]) -> list[bytes]:
    """The first part that is not empty begins with the byte order mark of the whole."""
    for number, part in enumerate(parts):
        if part and bom and not part.startswith(bom):
            return [*parts[:number], bom + part, *parts[number + 1 :]]
        if part:
            return parts
    return parts
