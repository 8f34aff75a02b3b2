"""What a patch says, in whichever form it was written; every form reads into these values."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Mark = Literal[" ", "-", "+"]

_MARKS: dict[bytes, Mark] = {b" ": " ", b"-": "-", b"+": "+"}
_WORKSPACE = b"/workspace/"
_ESCAPES = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


class PatchProblem(Exception):
    """Why a patch was not applied, told so that the next attempt can succeed."""


class Numbered(NamedTuple):
    """A line of the patch, without its line break; numbers count from 1."""

    number: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its line break, or without one where the file ends in it."""

    mark: Mark
    text: bytes


@dataclass(frozen=True, slots=True)
class Hunk:
    """A few lines as they stand in the file, and as they shall."""

    number: int
    """The line of the patch at which it begins."""
    lines: tuple[Line, ...]
    start: int | None = None
    """The line of the file that it is said to stand at, from 1."""
    anchors: tuple[bytes, ...] = ()
    """Lines it stands below, each within the one before."""
    follows: bool = False
    """True when it is said to stand after the hunk before it."""
    at_end: bool = False
    """True when it is said to reach to the end of the file."""

    @property
    def old(self) -> tuple[bytes, ...]:
        """The lines it has to find."""
        return tuple(line.text for line in self.lines if line.mark != "+")

    @property
    def new(self) -> tuple[bytes, ...]:
        """The lines that stand there afterwards."""
        return tuple(line.text for line in self.lines if line.mark != "-")


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a patch does to one file; paths are relative to the workspace."""

    number: int
    """The line of the patch at which it begins."""
    old: bytes | None
    """None for a new file."""
    new: bytes | None
    """None for a file that goes."""
    hunks: tuple[Hunk, ...] = ()
    executable: bool | None = None
    """None when the mode stays."""
    unseen: bool = False
    """True for a file that goes whatever its content is."""

    @property
    def name(self) -> str:
        """The path for showing; bytes that are not UTF-8 stay visible as escapes."""
        return shown(self.new if self.old is None else self.old)

    @property
    def paths(self) -> tuple[bytes, ...]:
        """The path, or both when it is renamed."""
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))


def shown(text: bytes | None) -> str:
    """Bytes of a patch as text."""
    return (text or b"").decode("utf-8", "backslashreplace")


def read_lines(body: Iterable[Numbered]) -> tuple[Line, ...]:
    """The lines of a hunk. Raises PatchProblem for one that is none."""
    found: list[Line] = []
    for number, text in body:
        mark = _MARKS.get(text[:1])
        if text.startswith(b"\\") and found:
            found[-1] = Line(found[-1].mark, found[-1].text.removesuffix(b"\n"))
        elif text in (b"", b"\r"):
            # An empty line of context that has lost its space: GNU diff writes it so.
            found.append(Line(" ", text + b"\n"))
        elif mark:
            found.append(Line(mark, text[1:] + b"\n"))
        else:
            raise PatchProblem(
                f"line {number} of the patch begins with neither a space, nor -, nor +: "
                f"{shown(text)[:80]!r}"
            )
    return tuple(found)


def without_blank_end(body: list[Numbered]) -> list[Numbered]:
    """Without the empty lines at the end, which only part it from what follows."""
    end = len(body)
    while end and not body[end - 1].text.strip(b"\r"):
        end -= 1
    return body[:end]


def anchor(text: bytes) -> tuple[bytes, ...]:
    """What stands after `@@`, as an anchor; dots and nothing are none."""
    said = text.strip().removesuffix(b"@@").strip()
    return (said,) if said.strip(b".") else ()


def unquoted(name: bytes) -> bytes:
    """A path out of the quotes that git puts round unusual ones."""
    if len(name) < 2 or not name.startswith(b'"') or not name.endswith(b'"'):
        return name
    return re.sub(rb"\\([0-7]{3}|.)", _unescaped, name[1:-1], flags=re.DOTALL)


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if len(escape) == 3:
        return bytes([int(escape, 8) & 0xFF])
    return bytes([_ESCAPES.get(escape[0], escape[0])])


def path(name: bytes, number: int) -> bytes:
    """A path as the workspace has it. Raises PatchProblem for one that leads elsewhere."""
    relative = name.removeprefix(_WORKSPACE)
    while relative.startswith(b"./"):
        relative = relative[2:]
    parts = relative.split(b"/")
    if relative.startswith(b"/"):
        problem = "is not below /workspace"
    elif b".." in parts or b"." in parts or b"" in parts or b"\0" in relative:
        problem = "is no plain path: write it relative to /workspace, without . and .."
    elif any(part.lower() == b".git" for part in parts):
        problem = "belongs to git itself, which is not patched"
    else:
        return relative
    raise PatchProblem(f"line {number} of the patch: {shown(name)!r} {problem}")
