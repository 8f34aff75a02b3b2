"""What became of one file, by git: its patch, and the merge of two changes of it."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import GitError, RepositoryError
from orchestrator.git import Git, find
from orchestrator.patch import UNIFIED
from sandbox import scratch

_LARGEST_PATCH = 1 << 30
_FAILED = 128
"""From here on the status of `git merge-file` is no count of conflicts: it takes no binary file."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines from 1; `last_line` is `first_line - 1` where there is nothing."""

    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Both changes, or where they are in each other's way: lines of `ours`."""

    data: bytes
    """With conflict marks where there are conflicts; `ours` where git merges no such file."""
    conflicts: tuple[Span, ...] = ()


def unified(source: Path, old: bytes, new: bytes) -> bytes:
    """The patch that `git apply` takes at the top of the source's repository.

    Outside of any repository the patch is for the folder of the source.
    """
    name = _relative(source)
    mode = "100755" if source.stat().st_mode & stat.S_IXUSR else "100644"
    with _bench() as git:
        before, after = (_tree(git, mode, name, content) for content in (old, new))
        return git.run(*UNIFIED, before, after, limit=_LARGEST_PATCH)


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merge:
    """Put together what two have made of `base`."""
    if ours in (base, theirs):
        return Merge(theirs)
    if theirs == base:
        return Merge(ours)
    length = _mark_length(base, ours, theirs)
    with _bench() as git:
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            (git.directory.parent / name).write_bytes(content)
        files = (str(git.directory.parent / name) for name in ("ours", "base", "theirs"))
        labels = ("-L", "source", "-L", "split", "-L", "pieces")
        done = git.call("merge-file", "--diff3", f"--marker-size={length}", *labels, *files)
        merged = (git.directory.parent / "ours").read_bytes()
    if done.status >= _FAILED:
        return Merge(ours, (Span(1, ours.count(b"\n") + (not ours.endswith(b"\n"))),))
    return Merge(merged, tuple(_conflicts(merged, length)) if done.status else ())


@contextmanager
def _bench() -> Iterator[Git]:
    """A passing git directory of our own; files beside it pass with it."""
    with scratch.folder() as place:
        git = Git(place / "bench.git", confined=True)
        git.run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
        yield git


def _tree(git: Git, mode: str, name: bytes, content: bytes) -> str:
    found = git.text("hash-object", "-w", "--stdin", stdin=content)
    entry = f"{mode} blob {found}"
    for part in reversed(name.split(b"/")):
        found = git.text("mktree", "-z", stdin=entry.encode() + b"\t" + part + b"\0")
        entry = f"040000 tree {found}"
    return found


def _relative(source: Path) -> bytes:
    """The path from the top of the source's work tree; outside of any its name."""
    try:
        top = find(source.parent).work_tree
    except (GitError, RepositoryError):
        top = None
    # `core.worktree` may name a folder that the file is not in.
    if top is None or not source.is_relative_to(top.resolve()):
        return os.fsencode(source.name)
    return os.fsencode(source.relative_to(top.resolve()))


def _mark_length(*contents: bytes) -> int:
    """One that no line of the contents could be taken for a mark of."""
    marks = (re.findall(rb"(?m)^(?:<{7,}|\|{7,}|={7,}|>{7,})", content) for content in contents)
    return max((len(mark) for found in marks for mark in found), default=6) + 1


def _conflicts(merged: bytes, length: int) -> Iterator[Span]:
    """Where conflicts are, in lines of the file that was merged into."""
    line, start, side = 1, 0, ""
    sides = {b"<" * length: "ours", b"|" * length: "base", b"=" * length: "theirs"}
    for text in merged.split(b"\n"):
        head = text[:length]
        if head in sides and (side or sides[head] == "ours"):
            if sides[head] == "ours":
                start = line
            elif side == "ours":
                yield Span(start, line - 1)
            side = sides[head]
        elif head == b">" * length and side:
            side = ""
        elif side in ("", "ours"):
            line += 1
