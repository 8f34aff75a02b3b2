"""What a file of the user's repository was called before, and what it is called later."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing

from orchestrator.errors import GitError
from orchestrator.repository import Repository

_PLAIN = ("100644", "100755")
_RENAMES = ("--find-renames", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff")
_SECONDS = 60.0
_LIMIT = 256 << 20


def earlier_names(repository: Repository, path: str) -> Iterator[str]:
    """The names that a file had before, the latest first: that at HEAD, then those before it.

    Ends early where git has no answer in time, or lacks the contents to compare.
    """
    try:
        if not is_file(repository, "HEAD", path):
            path = _name_at_head(repository, path)
            yield path
        follow = ("log", "--follow", "--format=", *_RENAMES, "HEAD", "--", path)
        with closing(repository.git.stream(*follow, seconds=_SECONDS, limit=_LIMIT)) as pieces:
            for old, _ in _pairs(pieces):
                yield old
    except GitError:
        return


def later_name(repository: Repository, path: str, old: str, new: str) -> str:
    """What the file that has this path at one commit is called at a later one."""
    walk = ("log", "--reverse", "--format=", *_RENAMES, f"{old}..{new}")
    with closing(repository.git.stream(*walk, seconds=_SECONDS, limit=_LIMIT)) as pieces:
        for before, after in _pairs(pieces):
            path = after if before == path else path
    return path


def is_file(repository: Repository, commit: str, path: str) -> bool:
    """Whether a commit has a plain file there: no link, no folder."""
    entry = repository.git.run("ls-tree", "-z", "--full-tree", commit, "--", path)
    return entry[:6].decode("ascii") in _PLAIN


def _name_at_head(repository: Repository, path: str) -> str:
    """What HEAD calls a file that was moved since, by `git mv` or without git."""
    head = repository.resolve("HEAD").commit
    with repository.workbench() as bench:
        repository.lend_index(bench)
        there = f"--work-tree={repository.place.work_tree}"
        gone = bench.run(there, "ls-files", "--deleted", "-z", limit=_LIMIT)
        moved = gone + os.fsencode(path) + b"\0"
        bench.run(there, "update-index", "--add", "--remove", "-z", "--stdin", stdin=moved)
        output = bench.run("diff-index", "--cached", *_RENAMES, head, limit=_LIMIT)
    return {new: old for old, new in _pairs([output])}.get(path, path)


def _pairs(pieces: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Old and new names, of `R100 NUL old NUL new NUL` as it comes."""
    fields: list[bytes] = []
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        fields += whole
        while len(fields) >= 3:
            _, old, new, *fields = fields
            yield os.fsdecode(old), os.fsdecode(new)
