"""The agent's own repository, /workspace/.git: its to use and to break; no snapshot looks at it."""

import os
import shutil
import stat
import subprocess

from .index import GIT, STORE, WORK, Failure, is_kind, remove

PLACE = os.fsdecode(WORK)
HERE = f"{PLACE}/.git"

ATTRIBUTES = "* -text -ident -filter -crlf !eol !working-tree-encoding\n"
"""Beats every .gitattributes in the tree: blobs are the files' bytes, and no filter runs."""

CONFIG = """\
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

OF_SETUP = ("config", "hooks")
"""What set-up may have put into the repository and is kept when it moves to another commit."""


def found(commit: str, boundary: str) -> None:
    """Make a repository on one branch, that reads the objects of the store."""
    for folder in ("refs/heads", "objects/info", "info"):
        os.makedirs(f"{HERE}/{folder}")
    write(f"{HERE}/HEAD", "ref: refs/heads/main\n")
    if not os.path.lexists(f"{HERE}/config"):
        write(f"{HERE}/config", CONFIG)
    write(f"{HERE}/info/attributes", ATTRIBUTES)
    write(f"{HERE}/objects/info/alternates", f"{STORE}\n")
    write(f"{HERE}/shallow", boundary)
    git("update-ref", "-m", "base", "refs/heads/main", commit)


def move(commit: str, boundary: str) -> None:
    """Make it anew at another commit: what set-up committed or stashed belongs to the old one."""
    if not is_kind(stat.S_ISDIR, HERE):
        return  # set-up did away with it
    for name in os.listdir(HERE):
        if name not in OF_SETUP:
            remove(f"{HERE}/{name}")
    found(commit, boundary)
    write(f"{HERE}/index", "")


def share(index: str) -> None:
    """Give it a copy of an index, where it has one of its own."""
    if is_kind(stat.S_ISREG, f"{HERE}/index"):  # set-up may have done anything to it
        shutil.copyfile(index, f"{HERE}/index")


def git(*arguments: str, **more: str) -> None:
    """Run git on it, without its hooks; git reads our stdin. Raises Failure."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_DIR": HERE,
        "GIT_WORK_TREE": PLACE,
    }
    off = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    done = subprocess.run(
        [GIT, *off, *arguments], cwd=PLACE, env=environment | more, capture_output=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Failure(f"git {arguments[0]}: {said or f'status {done.returncode}'}")


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
