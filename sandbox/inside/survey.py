"""How /workspace differs from an index, and what of it a record can take."""

import os
import stat
from collections.abc import Container, Iterable, Iterator
from threading import Thread
from typing import Literal, NamedTuple

from .index import STATE, Index, is_kind, split
from .modules import modules, status_of
from .status import Status, covered, folders, full, status

Fate = Literal["record", "drop", "leave out"]


class Fixed(NamedTuple):
    """What the preparation found out, and no snapshot can change."""

    left: frozenset[bytes]
    """Untracked paths that set-up made; a folder ends in a slash and stands for all below it."""
    links: frozenset[bytes]
    """The base's submodules, and those in them: they stay as they are."""
    modules: frozenset[bytes]
    """Those of them whose files are given."""


class Look(NamedTuple):
    """All there is to see in /workspace."""

    status: Status
    odd: set[bytes]
    """Paths that no tree can hold, or may not hold."""


class Survey(NamedTuple):
    """What makes the index equal to /workspace."""

    changed: list[bytes]
    gone: list[bytes]
    left_out: set[bytes]
    ignored: list[bytes]


def fixed() -> Fixed:
    """Read root's lists."""
    lists = []
    for name in ("left", "links", "modules"):
        with open(f"{STATE}/{name}", "rb") as file:
            lists.append(frozenset(split(file.read())))
    return Fixed(*lists)


def odd(skip: Container[bytes]) -> Iterator[bytes]:
    """What git passes over in silence: pipes, sockets, devices, closed folders, inner `.git`s.

    A folder ends in a slash; folders in `skip` are not entered.
    """
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        entries = listing(full(folder))
        if entries is None:
            yield folder
            continue
        for entry in entries:
            if entry.name == b".git":
                if folder:
                    yield folder + entry.name
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                continue  # asked first, for nearly all are
            elif not entry.is_dir(follow_symlinks=False):
                yield folder + entry.name
            elif (path := folder + entry.name + b"/") not in skip:
                waiting.append(path)


def listing(folder: bytes) -> list[os.DirEntry[bytes]] | None:
    """What is in a folder; None when it cannot be entered, nothing when it went meanwhile."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None
    return found if os.access(folder, os.X_OK) or not os.path.lexists(folder) else None


def unrecordable(index: Index, given: Fixed, found: set[bytes]) -> set[bytes]:
    """The odd paths; a folder with a `.git` is left out whole unless the base has files there."""
    nested = {path[: -len(b".git")] for path in found if path.endswith(b"/.git")}
    whole = nested - in_base(index, nested)
    out = {path for path in found if not covered(path, whole)} | whole
    return out | {link for link in given.links - given.modules if occupied(link)}


def in_base(index: Index, paths: Iterable[bytes]) -> set[bytes]:
    """Which of these folders the base has."""
    names = [os.fsdecode(path.rstrip(b"/")) for path in paths]
    if not names:
        return set()
    rows = split(index.git("ls-tree", "-d", "-z", "--name-only", "HEAD", "--", *names))
    return {row + b"/" for row in rows}


def occupied(link: bytes) -> bool:
    """Whether anything is where the base has a submodule that was not given."""
    try:
        return bool(os.listdir(full(link)))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def look(index: Index, given: Fixed) -> Look:
    """What git sees, and what it does not; at the same time, for both go through all folders."""
    skip = given.left | {link + b"/" for link in given.links - given.modules}
    found: set[bytes] = set()
    walk = Thread(target=lambda: found.update(odd(skip)))
    walk.start()
    seen = status(index)
    inner = [status_of(module) for module in modules(index)]
    walk.join()
    passed = given.left.union(seen.ignored, *(each.ignored for each in inner))
    told = {path for path in found if not covered(path, passed)}
    for each in inner:
        told.update(path for path in each.changed if not covered(path, given.left))
    return Look(seen, unrecordable(index, given, told) - given.left)


def survey(index: Index, given: Fixed) -> Survey:
    """Look at every file once, and decide what the record takes."""
    seen, out = look(index, given)
    closed = out | given.links | {link + b"/" for link in given.links}
    # What the base tracks stays tracked whatever .gitignore says: a file that was deleted and is
    # back is not in the index any more, so git may call it ignored.
    back = (path for path in seen.dropped if os.path.lexists(full(path)))
    new = (path for path in seen.new if not covered(path, given.left))
    sorted_by: dict[Fate, list[bytes]] = {"record": [], "drop": [], "leave out": []}
    for path in (*seen.touched, *new, *back):
        if not covered(path, closed):
            sorted_by[fate(path)].append(path)
    out.update(sorted_by["leave out"])
    hidden = newly_ignored(index, seen.added)
    gone = [*sorted_by["drop"], *held(index, out - given.links), *hidden]
    ignored = [path for path in seen.ignored if not covered(path, given.left)]
    return Survey(sorted_by["record"], gone, out, ignored + hidden)


def fate(path: bytes) -> Fate:
    """What becomes of a path that git calls new or changed."""
    try:
        mode = os.lstat(full(path)).st_mode
    except OSError:
        return "drop"
    if stat.S_ISDIR(mode) or not all(is_kind(stat.S_ISDIR, full(f)[:-1]) for f in folders(path)):
        return "drop"  # a folder, or what lies behind a symlink, is not at this path any more
    if stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and os.access(full(path), os.R_OK)):
        return "record"
    return "leave out"


def held(index: Index, out: set[bytes]) -> list[bytes]:
    """What the index still has of paths that are left out by now."""
    if not out:
        return []
    return [path for path in split(index.git("ls-files", "-z")) if covered(path, out)]


def newly_ignored(index: Index, added: list[bytes]) -> list[bytes]:
    """Files that were recorded before a rule came to ignore them; those of the base stay."""
    if not added:
        return []
    rules = "--exclude-per-directory=.gitignore"
    ignored = index.git("ls-files", "-z", "--cached", "--ignored", rules)
    return sorted(set(added).intersection(split(ignored)))
