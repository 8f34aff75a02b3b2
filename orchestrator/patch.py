"""The unified diff between two trees, and questions about it.

Policy reads `Entry` values, which come from git's raw output; `FilePatch` values are for showing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast

from unidiff.patch import PatchSet

Status = Literal["A", "D", "M", "T"]

RAW = ("diff-tree", "-r", "--raw", "-z", "--no-renames", "--full-index")
"""The raw difference: neither attributes nor settings change what it says."""

_TRUE_BYTES = (
    "--no-ext-diff",  # no program formats the difference
    "--no-textconv",  # nor converts the contents first
    "--no-renames",  # a rename is a deletion and a creation: each is judged
    "--no-color",
    "--full-index",
    "--text",  # one NUL must not hide a file from its reader
    "--submodule=short",
)

UNIFIED = ("diff", *_TRUE_BYTES, "--binary", "--src-prefix=a/", "--dst-prefix=b/")
"""The patch as it is recorded; `git apply` of it gives exactly the new tree."""

NUMSTAT = ("diff", *_TRUE_BYTES, "--numstat", "-z")
"""Lines added and removed; it counts the very lines that `UNIFIED` shows."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One changed path, from `diff-tree --raw`: modes, blob ids and the raw bytes of its name."""

    status: Status
    old_mode: str
    """Six octal digits; 000000 where there is none."""
    new_mode: str
    old_blob: str
    """40 hex digits; all zeros where there is none."""
    new_blob: str
    path: bytes

    @property
    def name(self) -> str:
        """The path for showing; bytes that are not UTF-8 stay visible as escapes."""
        return shown(self.path)


@dataclass(frozen=True, slots=True)
class Count:
    """Lines added to and removed from one path."""

    path: bytes
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Hunk:
    """One changed region: where it lies in both files, and its lines with their `+`, `-`, ` `."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one path, for showing."""

    name: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int


def shown(path: bytes) -> str:
    """A path as text; bytes that are not UTF-8 stay visible as escapes."""
    return path.decode("utf-8", "backslashreplace")


def parse_raw(pieces: Iterable[bytes]) -> Iterator[Entry]:
    """Entries of `RAW` output, as they come."""
    fields = _fields(pieces)
    for head in fields:
        old_mode, new_mode, old_blob, new_blob, status = head.decode("ascii").lstrip(":").split(" ")
        yield Entry(cast(Status, status), old_mode, new_mode, old_blob, new_blob, next(fields))


def parse_numstat(output: bytes) -> tuple[Count, ...]:
    """Counts of `NUMSTAT` output; a path that git did not count by lines has zeros."""
    counts = []
    for line in output.split(b"\0")[:-1]:
        added, removed, path = line.split(b"\t", 2)
        counts.append(Count(path, _number(added), _number(removed)))
    return tuple(counts)


def parse_unified(patch: bytes) -> tuple[FilePatch, ...]:
    """The files and hunks of `UNIFIED` output, for showing.

    unidiff takes names from the headers as they are, quotes included, and lines with any of
    Python's line ends; so it is given one section at a time, with lines ended by newlines only
    and names of ours.
    """
    sections = re.split(rb"^diff --git ", patch, flags=re.MULTILINE)[1:]
    return tuple(_file(section) for section in sections)


def _file(section: bytes) -> FilePatch:
    header, *lines = section.decode("latin-1").split("\n")  # one character for each byte
    start = next((at for at, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    body = [line + "\n" for line in lines[start:-1]]
    parsed = PatchSet(["--- a/file\n", "+++ b/file\n", *body])
    hunks = [hunk for file in parsed for hunk in file]
    return FilePatch(
        name=shown(_name(header)),
        hunks=tuple(
            Hunk(
                hunk.source_start,
                hunk.source_length,
                hunk.target_start,
                hunk.target_length,
                tuple(_line(str(line)) for line in hunk),
            )
            for hunk in hunks
        ),
        added=sum(hunk.added for hunk in hunks),
        removed=sum(hunk.removed for hunk in hunks),
    )


def _line(line: str) -> str:
    return line.removesuffix("\n").encode("latin-1").decode("utf-8", "backslashreplace")


def _name(header: str) -> bytes:
    """The path in `a/PATH b/PATH`: without renames both halves are the same."""
    half = header[: len(header) // 2]
    if half.startswith('"'):
        half = re.sub(r"\\([0-7]{3}|.)", _unquoted, half[1:-1])
    return half.removeprefix("a/").encode("latin-1")


def _unquoted(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 3:
        return chr(int(escape, 8))
    return dict(zip("abtnvfr", "\a\b\t\n\v\f\r", strict=True)).get(escape, escape)


def _fields(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """NUL-terminated fields, however the stream was cut."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _number(digits: bytes) -> int:
    return 0 if digits == b"-" else int(digits)
