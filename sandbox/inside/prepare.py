"""Put a repository into an image that is being prepared. Runs as root, on the toolbox's programs.

inside.prepare begin            CA certificates on stdin: the user, the folders
inside.prepare take whole|more  a pack on stdin: all objects there are, or further ones
inside.prepare checkout COMMIT  where history ends on stdin: /workspace, with a .git of its own
inside.prepare fill             paths and commits on stdin: the files of submodules
inside.prepare finish COMMIT    the same on stdin, after set-up: undo what it did to tracked files
inside.prepare advance COMMIT   the same on stdin, over a set-up at another commit: go to this one
inside.prepare refresh          in a container of the layer: remember its files, open its /tmp

`finish` and `advance` print what set-up left beside the tracked files, and what was put back.
"""

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator

from . import modules, repository
from .authorities import install
from .index import (
    OWN,
    SETTINGS,
    STATE,
    STORE,
    WORK,
    Failure,
    Index,
    is_kind,
    joined,
    remove,
    split,
)
from .repository import ATTRIBUTES, write
from .status import covered, folders, full
from .survey import Fixed, Look, look

USER = 10001
NAME = "agent"
HOME = "/home/agent"
PLACE = os.fsdecode(WORK)

CONFIG = """\
[core]
	repositoryFormatVersion = 0
	bare = false
	excludesFile = /dev/null
	attributesFile = /dev/null
	hooksPath = /dev/null
	fsmonitor = false
	protectHFS = true
	protectNTFS = true
	fsync = none
[gc]
	auto = 0
"""
"""What is not recoverable anyway needs no fsync: the container is thrown away."""


def begin() -> None:
    """Give uid 10001 a name and its folders, and the host's certificate authorities to all."""
    if os.path.isdir(PLACE) and os.listdir(PLACE):
        raise Failure(f"the image already has files in {PLACE}")
    for folder in (PLACE, HOME, STATE):
        os.makedirs(folder, mode=0o755, exist_ok=True)
    register("/etc/passwd", f"{{}}:x:{USER}:{USER}::{HOME}:/bin/sh")
    register("/etc/group", f"{{}}:x:{USER}:")
    for shared in ("/var/tmp", "/run/lock"):
        if os.path.isdir(shared):
            os.chmod(shared, 0o755)
    install(sys.stdin.read())


def register(file: str, line: str) -> None:
    """Add a line for the number 10001, under a name that is free; without one getpwuid fails."""
    entries = []
    if os.path.exists(file):
        with open(file, encoding="utf-8", errors="surrogateescape") as lines:
            entries = [entry.rstrip("\n").split(":") for entry in lines]
    if any(len(entry) > 2 and entry[2] == str(USER) for entry in entries):
        return
    name = NAME if all(entry[0] != NAME for entry in entries) else f"{NAME}-{USER}"
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(line.format(name) + "\n")


def take(how: str) -> None:
    """Take a pack into the object store; `whole` replaces what was there."""
    if how == "whole":
        remove(STORE)
    os.makedirs(f"{STORE}/pack", exist_ok=True)
    if not os.path.isdir(SETTINGS):
        settle("ref: refs/heads/unborn", "")
    places = {"GIT_DIR": SETTINGS, "GIT_OBJECT_DIRECTORY": STORE}
    repository.git("index-pack", "--stdin", "--fix-thin", **places)


def settle(head: str, boundary: str, place: str = SETTINGS) -> None:
    """Write what no snapshot may change: settings, attributes, and which commit is the base."""
    remove(place)
    for folder in ("refs", "info"):
        os.makedirs(f"{place}/{folder}")
    write(f"{place}/HEAD", f"{head}\n")
    write(f"{place}/shallow", boundary)
    write(f"{place}/config", CONFIG)
    write(f"{place}/info/attributes", ATTRIBUTES)


def checkout(commit: str, boundary: str) -> None:
    """Make /workspace a repository of its own at this commit."""
    repository.found(commit, boundary)
    repository.git("reset", "--hard", "--quiet")


def fill(rows: list[bytes]) -> None:
    """Put in the files of submodules."""
    paths, commits = rows[::2], rows[1::2]
    with open(modules.LIST, "wb") as file:
        file.write(joined(paths))
    for number, commit in enumerate(commits):
        head = commit.decode("ascii")
        settle(head, f"{head}\n", f"{modules.SETTINGS}/{number}")
    for module in modules.modules(Index(OWN)):
        modules.put_back(module)


def finish(commit: str, boundary: str) -> None:
    """Put tracked files back, list what else set-up left, and hand everything to uid 10001."""
    settle(commit, boundary)
    remove(OWN)
    os.makedirs(OWN)
    index = Index(OWN)
    index.renew()
    conclude(index, restored=())
    give(HOME)


def advance(commit: str, boundary: str) -> None:
    """Go from the commit that set-up ran on to another one; of two files its own one stays."""
    index = Index(OWN)
    index.git("update-index", "--no-split-index")  # the part in SETTINGS goes with it
    settle(commit, boundary)
    had = set(split(index.git("ls-files", "-z")))
    has = split(index.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"))
    in_the_way = [path for path in has if path not in had and blocked(path)]
    restored = [path for path in kept("restored") if path in set(has)]
    index.git("read-tree", "--reset", "-u", "HEAD")
    repository.move(commit, boundary)
    conclude(index, restored=(*restored, *in_the_way))


def blocked(path: bytes) -> bool:
    """Whether something is at a path, or is no folder above it."""
    above = (full(folder[:-1]) for folder in folders(path))
    return os.path.lexists(full(path)) or any(
        os.path.lexists(each) and not is_kind(stat.S_ISDIR, each) for each in above
    )


def conclude(index: Index, restored: Iterable[bytes]) -> None:
    """Make tracked files what they have to be, keep lists of the rest, and give it all away."""
    given = [*modules.modules(index)]
    touched = [path for module in given for path in modules.put_back(module)]
    links = {*submodules(index)}
    for module in given:
        links.update(modules.placed(module, [*submodules(module.own)]))
    fixed = Fixed(frozenset(), frozenset(links), frozenset(module.path for module in given))
    more, seen = tidy(index, fixed)
    ignored = {path for module in given for path in modules.status_of(module).ignored}
    lists = {
        "restored": sorted({*restored, *touched, *more}),
        "left": sorted(leftovers(seen) | ignored),
        "links": sorted(links),
        "modules": [module.path for module in given],
    }
    for name, paths in lists.items():
        with open(f"{STATE}/{name}", "wb") as file:
            file.write(joined(paths))
    for folder in (PLACE, OWN):
        give(folder)
    told = {name: [os.fsdecode(path) for path in lists[name]] for name in ("restored", "left")}
    print(json.dumps(told))


def kept(name: str) -> list[bytes]:
    with open(f"{STATE}/{name}", "rb") as file:
        return split(file.read())


def submodules(index: Index) -> Iterator[bytes]:
    for row in split(index.git("ls-files", "-z", "--stage")):
        if row.startswith(b"160000 "):
            yield row.partition(b"\t")[2]


def tidy(index: Index, given: Fixed) -> tuple[list[bytes], Look]:
    """Put tracked files back: which ones, and all there is to see afterwards."""
    seen = look(index, given)
    touched = [path for path in seen.status.touched if path not in given.links]
    if touched:
        flags = ("--force", "--index", "-z", "--stdin")
        index.git("checkout-index", *flags, stdin=joined(touched))
        seen = look(index, given)
    return touched, seen


def leftovers(seen: Look) -> set[bytes]:
    """Every path that set-up left beside the tracked ones: it is not the agent's."""
    found = (*seen.status.new, *seen.status.ignored)
    return seen.odd | {path for path in found if not covered(path, seen.odd)}


def give(folder: str) -> None:
    """Make uid 10001 the owner of all below that is not its own yet.

    In the layer that made it: a change of owner copies the whole file from the layer below.
    """
    give_one(os.fsencode(folder))
    for place, inner, files in os.walk(os.fsencode(folder)):
        for name in (*inner, *files):
            give_one(os.path.join(place, name))


def give_one(path: bytes) -> None:
    facts = os.lstat(path)
    if (facts.st_uid, facts.st_gid) != (USER, USER):
        os.lchown(path, USER, USER)


def refresh() -> None:
    """Compare every file once, so that no snapshot has to: a layer's files have times of their own.

    The agent's own git gains as well: with the same files its index is the same. Ours is split:
    most of it is a file of root's in SETTINGS from now on, and a snapshot writes only what differs
    from that (of 80,000 files 30 KB, instead of 7 MB twice).
    """
    share_tmp()
    index = Index(OWN)
    for each in (index, *(module.own for module in modules.modules(index))):
        each.git("update-index", "-q", "--refresh")
        os.lchown(each.file, USER, USER)
    repository.share(index.file)
    index.git("update-index", "--split-index")
    os.lchown(index.file, USER, USER)


def share_tmp() -> None:
    """Let everybody write in /tmp: engines give what they mount there the mode of the image's.

    Only here is that one seen: nothing is mounted over it. It may be a link, or missing.
    """
    place = os.path.realpath("/tmp")
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o1777)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["begin"]:
            begin()
        case ["take", "whole" | "more" as how]:
            take(how)
        case ["checkout", commit]:
            checkout(commit, sys.stdin.read())
        case ["fill"]:
            fill(split(sys.stdin.buffer.read()))
        case ["finish", commit]:
            finish(commit, sys.stdin.read())
        case ["advance", commit]:
            advance(commit, sys.stdin.read())
        case ["refresh"]:
            refresh()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failure, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
