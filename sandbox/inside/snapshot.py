"""Record /workspace as a git tree. Runs in the sandbox, on the toolbox's Python and git.

    inside.snapshot record PREVIOUS   a line of JSON, then a pack of what the tree PREVIOUS lacks
    inside.snapshot anew PREVIOUS     the same, from nothing but the files
    inside.snapshot rehash            the tree, from nothing but the files: no cache is believed
    inside.snapshot reset TREE SIZE   SIZE bytes of pack on stdin; makes /workspace exactly TREE

The recorded tree is a function of the files alone: what the base tracks, and what no `.gitignore`
ignores, without what set-up left. So a new index gives the same tree as an old one, and index and
objects can be thrown away whatever the agent, who runs as the same user, did to them. Configuration
and attributes are root's. None of this is the boundary: the host checks all that leaves.
"""

import errno
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from .index import OWN, SETTINGS, WORK, Failure, Index, joined, remove, split
from .mark import mark
from .survey import Survey, fixed, survey

SHOWN, SHOWN_BYTES = 1000, 60_000
"""How many paths of a list are told, and how long they may be in all; the rest is only counted."""
REMEMBERED = 50
"""How many left out or ignored paths there may be for a snapshot to be remembered."""
CROWDED = 75
"""What it ends with when all processes of the limits are taken: EX_TEMPFAIL of sysexits(3)."""
MUCH = 1 << 20
"""Bytes of a pack that may hold what is in the other tree, at another path."""
LINK = b"160000"
PLENTY = 1 << 62
"""Where a file system does not count."""
ATTEMPTS = 3
"""One with the cache as it is, then from nothing; files that change meanwhile can fail one more."""


memory: dict[str, Any] = {}
"""What the server keeps from one snapshot to the next: how the files were, and what was told."""


def update(index: Index) -> Survey:
    """Make the index equal to /workspace."""
    seen = survey(index, fixed())
    if seen.gone:
        index.git("update-index", "--force-remove", "-z", "--stdin", stdin=joined(seen.gone))
    if seen.changed:
        flags = ("--add", "--remove", "--replace", "-z", "--stdin")
        done = index.run("update-index", *flags, stdin=joined(seen.changed))
        if b"Ignoring path" in done.stderr:  # git itself refuses names like `.GIT` or `git~1`
            held = set(split(index.git("ls-files", "-z")))
            seen.left_out.update(path for path in seen.changed if path not in held)
    return seen


def written(index: Index) -> str:
    """Write the index as a tree."""
    return index.git("write-tree").decode("ascii").strip()


def anew(previous: str) -> None:
    """Record without any cache: a file can change and keep its times, or the index be forged.

    What is mapped into memory changes its times when it is first written to, on a tmpfs not even
    then.
    """
    memory.clear()
    os.chmod(OWN, 0o700)
    remove(f"{OWN}/index")
    record(previous)


def record(previous: str) -> None:
    """Print the header of /workspace's tree, and the pack that leads there from `previous`."""
    found = mark(fixed().left)
    if found and memory.get("mark") == found and memory["told"]["tree"] == previous:
        tell(**memory["told"])
        return
    index = Index(OWN)
    known = previous if index.open() else base(index)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            seen = update(index)
            tree = written(index)
            objects = b"" if tree == previous else pack(index, tree, known)
            break
        except Failure:
            if attempt == ATTEMPTS:
                raise
            index.renew()
            known = base(index)  # what the previous tree was made of is gone
    told = {"tree": tree, **shown("left_out", seen.left_out), **shown("ignored", seen.ignored)}
    tell(**told, pack=len(objects))
    sys.stdout.buffer.write(objects)
    memory.clear()
    if found and len(seen.left_out) + len(seen.ignored) <= REMEMBERED:
        memory.update(mark=found, told=told)


def pack(index: Index, tree: str, known: str) -> bytes:
    """What leads from one tree to the other.

    Where that is much, it is found once more by a walk through all of both: only so a copy of a
    file that stayed is known to be one. Trees, because ^COMMIT would exclude nothing.
    """
    listed = f"-{known}\n{tree}\n".encode() + b"".join(new(index, tree, known))
    found = index.git("pack-objects", "--stdout", "-q", stdin=listed)
    if len(found) <= MUCH:
        return found
    revisions = f"{tree}\n^{known}\n".encode()
    return index.git("pack-objects", "--revs", "--thin", "--stdout", "-q", stdin=revisions)


def new(index: Index, tree: str, known: str) -> Iterator[bytes]:
    """An order to pack for each object at a path where the trees differ, but for moved ones.

    It names the path, so that it is packed as its difference from what is there in `known`.
    """
    flags = ("-r", "-t", "-z", "--raw", "--no-renames")
    # The index plays no part; git would read all of it. Where there is none, none can be put.
    rows = split(index.git("diff-tree", *flags, known, tree, GIT_INDEX_FILE=f"{SETTINGS}/none"))
    facts = [(*row.split(), path) for row, path in zip(rows[::2], rows[1::2], strict=True)]
    before = {old for _, _, old, *_ in facts}
    for _, mode, _, name, status, path in facts:
        if status != b"D" and mode != LINK and name not in before:
            yield name + b" " + path.replace(b"\n", b" ") + b"\n"


def base(index: Index) -> str:
    """The tree of the base."""
    return index.git("rev-parse", "HEAD^{tree}").decode("ascii").strip()


def rehash() -> None:
    """Print the tree that a new index gives."""
    os.chmod(OWN, 0o700)
    index = Index(f"{OWN}/rehash")
    remove(index.folder)
    os.mkdir(index.folder)
    index.renew()
    update(index)
    tell(tree=written(index))
    remove(index.folder)


def reset(tree: str, size: int) -> None:
    """Make /workspace exactly `tree`; what set-up left stays."""
    index = Index(OWN)
    index.open()
    update(index)  # what is in the index is removed where `tree` lacks it
    if size:
        index.git("index-pack", "--stdin", "--fix-thin", stdin=sys.stdin.buffer.read(size))
    index.git("read-tree", "--reset", "-u", tree)
    tell(tree=written(index))


def names(paths: Iterable[bytes]) -> list[str]:
    return [os.fsdecode(path) for path in sorted(paths)]


def shown(kind: str, paths: Collection[bytes]) -> dict[str, object]:
    """As many of the paths as fit into a header, and their number."""
    room = SHOWN_BYTES
    told = []
    for path in names(paths)[:SHOWN]:
        room -= len(path)
        if room < 0:
            break
        told.append(path)
    return {kind: told, f"{kind}_total": len(paths)}


def tell(**facts: object) -> None:
    """The header line; JSON in ASCII, bytes that are not UTF-8 as lone surrogates."""
    print(json.dumps({**facts, "room": [room(b"/"), room(WORK)]}), flush=True)


def room(place: bytes) -> tuple[int, int]:
    """Bytes and files for which there still is room, by a quota or else by the file system."""
    facts = os.statvfs(place)
    size = facts.f_bavail * facts.f_frsize if facts.f_blocks else PLENTY
    return size, facts.f_favail if facts.f_files else PLENTY


def main(arguments: list[str]) -> int:
    try:
        return carried_out(arguments)
    except (Failure, OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        failed = error.status if isinstance(error, Failure) else 1
        return CROWDED if is_crowded(error) else failed


def is_crowded(error: Exception) -> bool:
    """Whether no process or thread could be started, by us or by git."""
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return isinstance(error, BlockingIOError) or os.strerror(errno.EAGAIN) in str(error)


def carried_out(arguments: list[str]) -> int:
    if not os.access(WORK, os.R_OK | os.W_OK | os.X_OK):
        os.chmod(WORK, 0o755)  # its owner shut it; nothing could be recorded
    match arguments:
        case ["record", previous]:
            record(previous)
        case ["anew", previous]:
            anew(previous)
        case ["rehash"]:
            rehash()
        case ["reset", tree, size]:
            reset(tree, int(size))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
