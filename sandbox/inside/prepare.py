"""Put a repository into an image that is being prepared. Runs as root, on the toolbox's programs.

inside.prepare begin            CA certificates on stdin: the user, the folders
inside.prepare checkout COMMIT  a pack on stdin: /workspace with a .git of its own, at COMMIT
inside.prepare finish COMMIT    after set-up: undo its changes to tracked files, name the rest
inside.prepare refresh          in a container of the layer: remember the files as they are there
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator

from .authorities import install
from .index import GIT, OWN, SETTINGS, STATE, STORE, WORK, Failure, Index, is_kind, joined, split
from .survey import Fixed, covered, look, status

USER = 10001
NAME = "agent"
HOME = "/home/agent"
PLACE = os.fsdecode(WORK)

ATTRIBUTES = "* -text -ident -filter -crlf !eol !working-tree-encoding\n"
"""Beats every .gitattributes in the tree: blobs are the files' bytes, and no filter runs."""

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

AGENT_CONFIG = """\
[core]
	repositoryFormatVersion = 0
	bare = false
	logAllRefUpdates = true
[user]
	name = agent
	email = agent@sandbox
[gc]
	auto = 0
"""


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


def checkout(commit: str) -> None:
    """Fill the object store, and make /workspace a repository of its own at this commit."""
    repository = f"{PLACE}/.git"
    for folder in ("refs/heads", "objects/info", "info"):
        os.makedirs(f"{repository}/{folder}")
    os.makedirs(f"{STORE}/pack")
    write(f"{repository}/HEAD", "ref: refs/heads/main\n")
    write(f"{repository}/config", AGENT_CONFIG)
    write(f"{repository}/info/attributes", ATTRIBUTES)
    write(f"{repository}/objects/info/alternates", f"{STORE}\n")
    # The pack ends at this commit. Before index-pack, which would miss the parents.
    write(f"{repository}/shallow", f"{commit}\n")
    git("index-pack", "--stdin", GIT_OBJECT_DIRECTORY=STORE)
    git("update-ref", "-m", "base", "refs/heads/main", commit)
    git("reset", "--hard", "--quiet")


def git(*arguments: str, **more: str) -> None:
    """Run git on the agent's repository; it reads our stdin."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_DIR": f"{PLACE}/.git",
        "GIT_WORK_TREE": PLACE,
    }
    done = subprocess.run(
        [GIT, *arguments], cwd=PLACE, env=environment | more, capture_output=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Failure(f"git {arguments[0]}: {said or f'status {done.returncode}'}")


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def finish(commit: str) -> None:
    """Put tracked files back, list what else set-up left, and hand everything to uid 10001."""
    settle(commit)
    index = Index(OWN)
    index.renew()
    links = frozenset(submodules(index))
    touched = [path for path in status(index).touched if path not in links]
    flags = ("--force", "--index", "-z", "--stdin")
    index.git("checkout-index", *flags, stdin=joined(touched))
    left = leftovers(index, Fixed(frozenset(), links))
    for name, paths in (("left", left), ("links", links)):
        with open(f"{STATE}/{name}", "wb") as file:
            file.write(joined(sorted(paths)))
    for folder in (PLACE, HOME, OWN):
        give(folder)
    print(json.dumps({"restored": names(touched), "left": names(left)}))


def settle(commit: str) -> None:
    """Write what no snapshot may change: settings, attributes, and which commit is the base."""
    for folder in (f"{SETTINGS}/refs", f"{SETTINGS}/info", OWN):
        os.makedirs(folder)
    write(f"{SETTINGS}/HEAD", f"{commit}\n")
    write(f"{SETTINGS}/shallow", f"{commit}\n")
    write(f"{SETTINGS}/config", CONFIG)
    write(f"{SETTINGS}/info/attributes", ATTRIBUTES)


def submodules(index: Index) -> Iterator[bytes]:
    for row in split(index.git("ls-files", "-z", "--stage")):
        if row.startswith(b"160000 "):
            yield row.partition(b"\t")[2]


def leftovers(index: Index, given: Fixed) -> set[bytes]:
    """Every path that set-up left beside the tracked ones: it is not the agent's."""
    seen, out = look(index, given)
    return out | {path for path in (*seen.new, *seen.ignored) if not covered(path, out)}


def names(paths: set[bytes] | list[bytes]) -> list[str]:
    return [os.fsdecode(path) for path in sorted(paths)]


def give(folder: str) -> None:
    """Make uid 10001 the owner of all below; in the layer that made it, for a later one copies."""
    os.lchown(folder, USER, USER)
    for place, inner, files in os.walk(os.fsencode(folder)):
        for name in (*inner, *files):
            os.lchown(os.path.join(place, name), USER, USER)


def refresh() -> None:
    """Compare every file once, so that no snapshot has to: a layer's files have times of their own.

    The agent's own git gains as well: with the same files its index is the same.
    """
    index = Index(OWN)
    index.git("update-index", "-q", "--refresh")
    os.lchown(index.file, USER, USER)
    if is_kind(stat.S_ISREG, f"{PLACE}/.git/index"):  # set-up may have done anything to it
        shutil.copyfile(index.file, f"{PLACE}/.git/index")


def main(arguments: list[str]) -> int:
    match arguments:
        case ["begin"]:
            begin()
        case ["checkout", commit]:
            checkout(commit)
        case ["finish", commit]:
            finish(commit)
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
