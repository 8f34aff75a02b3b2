"""The form that Codex-trained models write: `*** Begin Patch`, files, hunks below anchors.

Known from its public descriptions: hunks have no line numbers, they stand one after another in the
file, and `@@ text` lines name what they stand below.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from orchestrator.patching.hunks import (
    FileChange,
    Hunk,
    Numbered,
    PatchProblem,
    anchor,
    path,
    read_lines,
    shown,
    without_blank_end,
)

BEGIN = b"*** Begin Patch"
END = b"*** End Patch"
_LAST = b"*** End of File"
_FILE = re.compile(rb"\*\*\* (Add|Update|Delete) File: *(.+)")
_MOVE = re.compile(rb"\*\*\* Move to: *(.+)")
_NUMBERS = re.compile(rb"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


def read(lines: Sequence[Numbered]) -> tuple[FileChange, ...]:
    """The changes between the two markers; what stands around them is not the patch's."""
    # Only space after it is forgiven: with one before, the marker is a line of some file.
    marks = [line.text.rstrip() for line in lines]
    if marks.count(BEGIN) > 1:
        raise PatchProblem("there is more than one *** Begin Patch; send one patch a call")
    start = marks.index(BEGIN) + 1
    if END not in marks[start:]:
        raise PatchProblem("the patch has no *** End Patch; it may have been cut off")
    inner = lines[start : marks.index(END, start)]
    return tuple(_change(section) for section in _sections(inner))


def _sections(lines: Sequence[Numbered]) -> Iterator[list[Numbered]]:
    """Each file's lines, its header first."""
    section: list[Numbered] = []
    for line in lines:
        if _FILE.match(line.text):
            if section:
                yield section
            section = [line]
        elif section:
            section.append(line)
        elif line.text.strip():
            raise PatchProblem(
                f"line {line.number} of the patch: expected *** Add File, *** Update File or "
                f"*** Delete File, found {shown(line.text)[:80]!r}"
            )
    if section:
        yield section


def _change(section: list[Numbered]) -> FileChange:
    head, body = section[0], section[1:]
    match = _FILE.match(head.text)
    assert match
    name = path(match[2].strip(), head.number)
    if match[1] == b"Update":
        return _update(head.number, name, body)
    body = without_blank_end(body)
    if match[1] == b"Add":
        if body and body[-1].text.rstrip() == _LAST:
            body.pop()
        return FileChange(head.number, None, name, _added(head.number, body))
    if body:
        raise PatchProblem(f"line {body[0].number} of the patch: nothing follows *** Delete File")
    return FileChange(head.number, name, None, unseen=True)


def _added(number: int, body: list[Numbered]) -> tuple[Hunk, ...]:
    for line in body:
        if not line.text.startswith(b"+"):
            raise PatchProblem(
                f"line {line.number} of the patch: every line of a new file begins with +, "
                f"found {shown(line.text)[:80]!r}"
            )
    return (Hunk(number, read_lines(body)),) if body else ()


def _update(number: int, name: bytes, body: list[Numbered]) -> FileChange:
    new = name
    if body and (move := _MOVE.match(body[0].text)):
        new = path(move[1].strip(), body[0].number)
        body = body[1:]
    return FileChange(number, name, new, tuple(_hunks(body)))


def _hunks(body: list[Numbered]) -> Iterator[Hunk]:
    anchors: tuple[bytes, ...] = ()
    start: int | None = None
    first: int | None = None
    lines: list[Numbered] = []
    follows = False
    for line in (*body, Numbered(0, b"@@")):
        stripped = line.text.rstrip()
        if not (line.text.startswith(b"@@") or stripped == _LAST):
            first = first or line.number
            lines.append(line)
            continue
        lines = without_blank_end(lines)
        if lines:
            found = Hunk(first or 0, read_lines(lines), start, anchors, follows)
            yield replace(found, at_end=stripped == _LAST)
            follows = True
        if lines or stripped == _LAST:
            anchors, start, first, lines = (), None, None, []
        if line.text.startswith(b"@@") and line.number:
            first = first or line.number
            numbers = _NUMBERS.match(line.text)
            start = int(numbers[1]) if numbers else start
            anchors += () if numbers else anchor(line.text[2:])
