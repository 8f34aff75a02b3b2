"""The paths that a run was told to keep to; a file among them may be renamed."""

import os
import re
from collections import Counter
from collections.abc import Iterator

from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict
from orchestrator.patch import Entry

_FILES = ("100644", "100755")
_CHUNK = re.compile(rb"[^\n]{0,63}\n|[^\n]{64}|[^\n]+$")
"""A line, or 64 bytes of a longer one: what git counts to tell a rename (`diffcore-delta.c`)."""

_MOST = 1_000_000
"""Chunks of a file that are compared, about a second's work; 16 MiB of code have half as many."""


def check(
    difference: Difference, only: tuple[str, ...], followed: frozenset[bytes] = frozenset()
) -> Iterator[Finding]:
    """Name every change elsewhere; `difference` is that from the base.

    `followed` are the names that allowed files had in between, see `renamed`.
    """
    outside = _outside(difference, only)
    new = _renamed(difference, only, followed)
    for entry in outside:
        if entry.path != new:
            reason = f"{_DEEDS[entry.status]}, but only {', '.join(only)} may change"
            yield Finding("boundary.outside", Verdict.BLOCK, entry.name, reason)


def renamed(step: Difference, only: tuple[str, ...], followed: frozenset[bytes]) -> bytes | None:
    """The new name that an allowed file got in one step, if it got one.

    A file that is renamed and then rewritten is still that file, though nothing of it is left.
    """
    names = (*only, *(os.fsdecode(name) for name in followed))
    return _renamed(step, names, frozenset())


_DEEDS = {"A": "added", "D": "deleted", "M": "changed", "T": "replaced"}


def _outside(difference: Difference, only: tuple[str, ...]) -> list[Entry]:
    """What lies elsewhere; a folder that came where a file was is not that file."""
    allowed = [os.fsencode(each) for each in only]
    files = {entry.path for entry in difference.entries if entry.status == "D"}
    folders = tuple(each + b"/" for each in allowed if each not in files)
    return [
        entry
        for entry in difference.entries
        if entry.path not in allowed and not entry.path.startswith(folders)
    ]


def _renamed(
    difference: Difference, only: tuple[str, ...], followed: frozenset[bytes]
) -> bytes | None:
    """The one new file that an allowed one became; of several none is."""
    entries = difference.entries
    added = [each for each in _outside(difference, only) if each.status == "A"]
    if len(added) != 1 or added[0].new_mode not in _FILES:
        return None
    (new,) = added
    names = {os.fsencode(each) for each in only}
    deleted = [each for each in entries if each.status == "D" and each.path in names]
    gone = [each for each in deleted if each.old_mode in _FILES]  # no link, nor a submodule
    known = bool(gone) and new.path in followed
    return new.path if known or any(_is_similar(difference, old, new) for old in gone) else None


def _is_similar(difference: Difference, old: Entry, new: Entry) -> bool:
    """Whether git would call it a rename: half of the larger file is in both.

    One of more than `_MOST` chunks is none unless it is the same.
    """
    if old.old_blob == new.new_blob:
        return True
    before, after = difference.blobs.read(old.old_blob), difference.blobs.read(new.new_blob)
    small, large = sorted((len(before), len(after)))
    chunks = max(blob.count(b"\n") + len(blob) // 64 for blob in (before, after))
    if 2 * small < large or chunks > _MOST:
        return False
    common = Counter(_CHUNK.findall(before)) & Counter(_CHUNK.findall(after))
    kept = sum(len(chunk) * number for chunk, number in common.items())
    return 2 * kept >= max(len(before), len(after))
