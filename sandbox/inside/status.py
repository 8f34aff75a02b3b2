"""`git status` of /workspace or a part of it, sorted; and the paths it names."""

from collections.abc import Container, Iterator
from typing import NamedTuple

from .index import WORK, Index, split

STATUS = (
    *("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"),
    *("--ignored=matching", "--ignore-submodules=all"),
)


class Status(NamedTuple):
    """`git status`, sorted by what follows from it."""

    touched: list[bytes]
    """Files that differ from the index, also those that vanished."""
    new: list[bytes]
    dropped: list[bytes]
    """In the base, not in the index."""
    added: list[bytes]
    """In the index, not in the base."""
    ignored: list[bytes]


def status(index: Index) -> Status:
    """Ask git once. HEAD is the base: the first column compares the index with it."""
    found = Status([], [], [], [], [])
    for row in split(index.git(*STATUS)):
        against_base, against_files, path = row[:1], row[1:2], row[3:]
        if against_base == b"!":
            found.ignored.append(path)
        elif against_base == b"?":
            found.new.append(path)
        else:
            if against_files != b" ":
                found.touched.append(path)
            if against_base == b"D":
                found.dropped.append(path)
            elif against_base == b"A":
                found.added.append(path)
    return found


def full(path: bytes) -> bytes:
    return WORK + b"/" + path


def covered(path: bytes, paths: Container[bytes]) -> bool:
    """Whether `paths` holds this path or a folder above it; folders end in a slash."""
    return path in paths or any(folder in paths for folder in folders(path))


def folders(path: bytes) -> Iterator[bytes]:
    """The folders above a path, outermost first, each with its slash."""
    end = path.find(b"/")
    while end != -1:
        yield path[: end + 1]
        end = path.find(b"/", end + 1)
