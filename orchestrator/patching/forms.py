"""The forms a patch may have, and what a model may have put round it."""

import re
from collections.abc import Sequence

from orchestrator.patching import unified, v4a
from orchestrator.patching.hunks import FileChange, Numbered, PatchProblem

_FENCE = re.compile(rb"(?:`{3,}|~{3,})[\w+-]*\s*")
_STARTS = (b"diff --git ", b"--- ", b"+++ ", b"@@", b"*** Begin Patch")


def read(patch: bytes) -> tuple[FileChange, ...]:
    """What a patch says, in either form. Raises PatchProblem, naming lines of the patch."""
    texts = _plain(patch).split(b"\n")
    if not texts[-1]:
        texts.pop()
    lines = _unfenced([Numbered(number, text) for number, text in enumerate(texts, 1)])
    in_v4a = any(line.text.rstrip() == v4a.BEGIN for line in lines)
    changes = v4a.read(lines) if in_v4a else unified.read(lines)
    if not changes:
        raise PatchProblem("the patch changes no file")
    return changes


def _plain(patch: bytes) -> bytes:
    """With LF where the patch itself has CRLF: its headers, which are in no file, have it then."""
    heads = [line for line in patch.split(b"\n") if line.startswith(_STARTS)]
    if heads and all(line.endswith(b"\r") for line in heads):
        return patch.replace(b"\r\n", b"\n")
    return patch


def _unfenced(lines: Sequence[Numbered]) -> Sequence[Numbered]:
    """What a Markdown fence holds, if there is one; no line of a patch looks like a fence."""
    fences = [at for at, line in enumerate(lines) if _FENCE.fullmatch(line.text)]
    if not fences:
        return lines
    outside = [*lines[: fences[0]], *lines[fences[-1] + 1 :]]
    if len(fences) != 2 or any(line.text.startswith(_STARTS) for line in outside):
        number = lines[fences[-1]].number
        raise PatchProblem(
            f"line {number} of the patch is a code fence that does not hold the whole patch; "
            "send the patch without fences"
        )
    return lines[fences[0] + 1 : fences[1]]
