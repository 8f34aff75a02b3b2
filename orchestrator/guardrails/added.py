"""What a change adds: the new lines of each file, compared line by line with the old content."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.guardrails.guardrail import Difference
from orchestrator.patch import Entry

_SNIFFED = 8000
"""Bytes in which a NUL makes content binary; git's own measure (`buffer_is_binary`)."""


@dataclass(frozen=True, slots=True)
class AddedLine:
    """A line of the new content that the old one has not, or has less often."""

    number: int
    """1-based, in the new file."""
    text: str


@dataclass(frozen=True, slots=True)
class Addition:
    """What one entry adds and takes away."""

    entry: Entry
    binary: bool
    lines: tuple[AddedLine, ...]
    removed: int
    """Lines of the old content that the new one has not."""


def additions(difference: Difference) -> Iterator[Addition]:
    """Compare old and new content of every entry, as sets of lines that may repeat.

    A moved line counts as neither added nor removed; so the cost is linear, where a true diff of
    hostile input is not.
    """
    for entry in difference.entries:
        old = _content(difference, entry.old_mode, entry.old_blob)
        new = _content(difference, entry.new_mode, entry.new_blob)
        before, lines = Counter(_lines(old)), []
        for number, text in enumerate(_lines(new), start=1):
            if before[text] > 0:
                before[text] -= 1
            else:
                lines.append(AddedLine(number, text))
        yield Addition(entry, is_binary(new or old), tuple(lines), before.total())


def is_binary(data: bytes) -> bool:
    """True when git would call the content binary."""
    return b"\0" in data[:_SNIFFED]


def _content(difference: Difference, mode: str, blob: str) -> bytes:
    """Read files and symlink targets; a submodule's id names no blob, and 000000 is no file."""
    return difference.blobs.read(blob) if mode.startswith(("100", "120")) else b""


def _lines(data: bytes) -> list[str]:
    text = _decode(data)
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _decode(data: bytes) -> str:
    """Decode leniently: what is not UTF-8 must be searched too, not crash the search.

    Without its NULs, UTF-16 reads as what it says, and so does text that only pretends to be
    UTF-16 by its first two bytes.
    """
    encoding = "latin-1" if is_binary(data) else "utf-8"
    return data.replace(b"\0", b"").decode(encoding, "replace")
