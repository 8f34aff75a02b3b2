"""The files of a folder that somebody wrote: as git sees them, or without what tools put there."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator.errors import GitError, RepositoryError
from orchestrator.git import Git, Place, find
from orchestrator.repository import Repository

FOREIGN = re.compile(
    r"(^|/)(\.[^/]+|node_modules|bower_components|vendor|third_party|site-packages|venv"
    r"|__pycache__)/"
)
"""Paths below a folder that is hidden, or holds what others wrote."""
_LISTED = 256 << 20


def under(folder: Path) -> tuple[Path, ...]:
    """The plain files below a folder, in order; links are not followed.

    In a work tree: what is tracked or could be, so nothing ignored. Elsewhere, and in a folder of
    which git sees nothing: nothing hidden and nothing in folders such as `node_modules`.
    """
    found = _seen_by_git(folder) or _walked(folder)
    return tuple(path for path in sorted({*found}) if path.is_file() and not path.is_symlink())


def _seen_by_git(folder: Path) -> list[Path]:
    """None outside of every work tree, and in one that git does not trust."""
    try:
        place = find(folder)
    except (GitError, RepositoryError):
        return []
    if place.work_tree is None or place.object_format != "sha1":
        return []
    top = place.work_tree.resolve()
    below = folder.resolve().relative_to(top)
    listed = _listed(place, top, below)
    return [folder / Path(os.fsdecode(name)).relative_to(below) for name in listed]


def _listed(place: Place, top: Path, below: Path) -> list[bytes]:
    repository = Repository(str(top), place, Git(place.git_dir))
    only = () if below == Path() else ("--", os.fspath(below))
    with repository.workbench() as bench:
        repository.lend_index(bench)
        wanted = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", *only)
        return bench.run(f"--work-tree={top}", *wanted, limit=_LISTED).split(b"\0")[:-1]


def _walked(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not FOREIGN.search(f"{name}/")]
        yield from (Path(here, name) for name in files if not name.startswith("."))
