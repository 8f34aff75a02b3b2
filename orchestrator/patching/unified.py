"""The unified form, as git and diff write it, and as models write it from memory.

Line counts in `@@` headers only tell where the text of a hunk ends; where they are wrong, its lines
count, as with `git apply --recount`. A header without numbers is a hunk without a stated place.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from orchestrator.patching.hunks import (
    FileChange,
    Hunk,
    Numbered,
    PatchProblem,
    anchor,
    path,
    read_lines,
    shown,
    unquoted,
    without_blank_end,
)

_GIT = b"diff --git "
_BETWEEN = (b"diff ", b"Index: ", b"Only in ")
_SIGNATURE = b"-- "
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PREFIXES = ((b"a/", b"b/"), (b"i/", b"w/"), (b"c/", b"i/"), (b"c/", b"w/"), (b"o/", b"w/"))
_NOWHERE = b"/dev/null"
_BINARY = (b"GIT binary patch", b"Binary files ")
_HEADER = re.compile(
    rb"(?P<word>---|\+\+\+|old mode|new mode|new file mode|deleted file mode|rename from|rename to"
    rb"|copy from|copy to|similarity index|dissimilarity index|index|Index:|diff|=====*)"
    rb"(?: (?P<rest>.*))?"
)
_MODES = {b"100644": False, b"100755": True, b"100664": False}


class _Head(NamedTuple):
    """The words above a file's hunks, and what each says."""

    number: int
    git: bytes
    """What follows `diff --git`."""
    said: dict[bytes, bytes]


def read(lines: Sequence[Numbered]) -> tuple[FileChange, ...]:
    """The changes of all files; text before the first header is not the patch's."""
    starts = list(_starts(lines))
    if not starts:
        raise PatchProblem(_no_header(lines))
    if astray := [line for line in lines[: starts[0]] if _HUNK.match(line.text)]:
        raise PatchProblem(f"line {astray[0].number} of the patch: a hunk before any file's header")
    bounds = pairwise((*starts, len(lines)))
    return tuple(_change(list(lines[at:end])) for at, end in bounds)


def _no_header(lines: Sequence[Numbered]) -> str:
    if any(line.text.startswith(b"@@") for line in lines):
        return "the patch names no file: put --- a/PATH and +++ b/PATH above its first @@"
    return (
        "this is no patch: it has neither `diff --git`, nor `--- a/PATH` with `+++ b/PATH` and "
        "`@@` below, nor `*** Begin Patch`"
    )


def _starts(lines: Sequence[Numbered]) -> Iterator[int]:
    """Where each file begins; with git's headers nothing else begins one."""
    if any(line.text.startswith(_GIT) for line in lines):
        yield from (at for at, line in enumerate(lines) if line.text.startswith(_GIT))
        return
    for at in range(len(lines) - 2):
        old, new, hunk = (line.text for line in lines[at : at + 3])
        if old.startswith(b"--- ") and new.startswith(b"+++ ") and hunk.startswith(b"@@"):
            yield at


def _change(section: list[Numbered]) -> FileChange:
    at = next((n for n, line in enumerate(section) if line.text.startswith(b"@@")), len(section))
    head = _head(section[:at])
    old, new = _names(head)
    mode = head.said.get(b"new file mode", head.said.get(b"new mode"))
    if mode is not None and mode not in _MODES:
        raise PatchProblem(
            f"line {head.number} of the patch: mode {shown(mode)} is not that of a file; make "
            "links and submodules with a command"
        )
    executable = None if mode is None else _MODES[mode]
    return FileChange(head.number, old, new, tuple(_hunks(section[at:])), executable)


def _head(lines: list[Numbered]) -> _Head:
    said: dict[bytes, bytes] = {}
    git = b""
    for number, text in lines:
        match = _HEADER.fullmatch(text)
        if text.startswith(_GIT) and not said:
            git = text.removeprefix(_GIT)
        elif text.startswith(_BINARY):
            raise PatchProblem(f"line {number} of the patch: binary contents cannot be patched")
        elif match:
            said[match["word"]] = match["rest"] or b""
        elif text == _SIGNATURE:
            break
        elif text.strip() and (b"+++" in said or text[:1] in b" -+"):
            raise PatchProblem(
                f"line {number} of the patch: expected @@, found {shown(text)[:80]!r}"
            )
    if b"copy to" in said:
        raise PatchProblem(f"line {lines[0].number} of the patch: add a copy as a new file")
    return _Head(lines[0].number, git, said)


def _names(head: _Head) -> tuple[bytes | None, bytes | None]:
    """The path before and after; None where there is no file."""
    said = head.said
    if b"rename from" in said or b"rename to" in said:
        return _renamed(head)
    whole = _both(head)
    old, new = _stripped(*whole)
    if b"---" in said and b"+++" in said:
        below = (_dated(said[b"---"]), _dated(said[b"+++"]))
        # Only git's header tells a folder called `b` from the prefix of a new file.
        if not old or old != new:
            old, new = _stripped(*below)
        elif any(low not in (_NOWHERE, high) for low, high in zip(below, whole, strict=True)):
            raise PatchProblem(_inconsistent(head))
    if old == new == _NOWHERE:
        raise PatchProblem(f"line {head.number} of the patch: names no file on either side")
    created = _NOWHERE in (old, said.get(b"---")) or b"new file mode" in said
    deleted = _NOWHERE in (new, said.get(b"+++")) or b"deleted file mode" in said
    if not created and not deleted and old != new:
        raise PatchProblem(
            f"line {head.number} of the patch names two files, {shown(old)} and {shown(new)}; "
            "a rename has the lines `rename from` and `rename to`"
        )
    return (
        None if created else path(old, head.number),
        None if deleted else path(new, head.number),
    )


def _renamed(head: _Head) -> tuple[bytes, bytes]:
    said = head.said
    pair = tuple(unquoted(said.get(word, b"")) for word in (b"rename from", b"rename to"))
    if b"---" in said and b"+++" in said:
        below = _stripped(_dated(said[b"---"]), _dated(said[b"+++"]))
        if below != pair:
            raise PatchProblem(_inconsistent(head))
    return path(pair[0], head.number), path(pair[1], head.number)


def _inconsistent(head: _Head) -> str:
    return f"line {head.number} of the patch begins a file that the lines below name otherwise"


def _both(head: _Head) -> tuple[bytes, bytes]:
    """The two names of `diff --git a/PATH b/PATH`, which are the same but for the prefix."""
    if quoted := re.fullmatch(rb'("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")', head.git):
        return unquoted(quoted[1]), unquoted(quoted[2])
    half = len(head.git) // 2
    return head.git[:half], head.git[half + 1 :]


def _dated(name: bytes) -> bytes:
    """Without the date that diff puts after a tab."""
    return unquoted(name.partition(b"\t")[0].rstrip(b"\r"))


def _stripped(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Without git's prefixes, if there are any: a folder may be called `a`, too."""
    for before, after in _PREFIXES:
        if old.startswith(before) and new.startswith(after):
            return old.removeprefix(before), new.removeprefix(after)
    if old == _NOWHERE:
        return old, new.removeprefix(b"b/")
    return (old.removeprefix(b"a/"), new) if new == _NOWHERE else (old, new)


def _hunks(lines: list[Numbered]) -> Iterator[Hunk]:
    starts = [at for at, line in enumerate(lines) if line.text.startswith(b"@@")]
    for at, end in pairwise((*starts, len(lines))):
        yield _hunk(lines[at], lines[at + 1 : end])


def _hunk(head: Numbered, body: list[Numbered]) -> Hunk:
    numbers = _HUNK.match(head.text)
    if numbers is None:
        if re.match(rb"@@ *[-+]\d", head.text):
            raise PatchProblem(
                f"line {head.number} of the patch: {shown(head.text)[:80]!r} is not `@@ -1,2 +1,3 "
                "@@`; leave the numbers out if you do not know them: `@@`"
            )
        lines = read_lines(_counted(body, None))
        return Hunk(head.number, lines, anchors=anchor(head.text[2:]))
    counts = (int(numbers[2] or 1), int(numbers[4] or 1))
    return Hunk(head.number, read_lines(_counted(body, counts)), int(numbers[1]) or None)


def _counted(body: list[Numbered], counts: tuple[int, int] | None) -> list[Numbered]:
    """The lines that belong to the hunk; what else may follow the last one is left out."""
    end = _fulfilled(body, counts) if counts else None
    if end is not None:
        rest = body[end:]
        foreign = [line for line in rest if line.text.strip(b"\r")]
        if not foreign or foreign[0].text == _SIGNATURE or not _continued(foreign):
            return body[:end]
        if not rest[0].text.strip(b"\r"):
            raise PatchProblem(
                f"line {rest[0].number} of the patch: the hunk ends here by its counts, but more "
                "lines follow; correct its header or leave the numbers out: `@@`"
            )
    cut = (n for n, line in enumerate(body) if line.text.startswith(_BETWEEN))
    body = without_blank_end(body[: next(cut, len(body))])
    if len(body) > 1 and body[-2].text == _SIGNATURE and re.match(rb"\d+\.\d", body[-1].text):
        body = body[:-2]
    return without_blank_end(body)


def _continued(rest: list[Numbered]) -> bool:
    return any(line.text[:1] in (b" ", b"-", b"+") for line in rest)


def _fulfilled(body: list[Numbered], counts: tuple[int, int]) -> int | None:
    """Where the stated counts are reached, if they are."""
    old, new = counts
    for at, line in enumerate(body):
        mark = line.text[:1]
        if old <= 0 and new <= 0 and mark != b"\\":
            return at if (old, new) == (0, 0) else None
        old -= mark in (b" ", b"-", b"", b"\r")
        new -= mark in (b" ", b"+", b"", b"\r")
    return len(body) if (old, new) == (0, 0) else None
