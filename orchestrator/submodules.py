"""Contents of submodules that are on this machine: they travel with the base, at its own commits.

Nothing is fetched: one that was never initialised here stays an empty folder.
"""

from collections.abc import Iterator
from pathlib import Path

from orchestrator.errors import RepositoryError
from orchestrator.git import Git, Place
from orchestrator.inputs import links, listing
from orchestrator.repository import Base, Repository
from sandbox.source import Submodule

_DEEPEST = 8
"""Submodules within each other."""
_PATHS = r"^submodule\..*\.path$"


def submodules(
    repository: Repository, base: Base, packs: Path, prefix: str = "", depth: int = 1
) -> Iterator[Submodule]:
    """Every one whose commit is here, each before those in it; packs are kept in `packs`."""
    names = _names(repository.git, base.commit)
    if not names or depth > _DEEPEST:
        return
    for path, commit in sorted(_links(repository, base)):
        found = _present(repository.place, path, names.get(path, path), commit)
        if found is None:
            continue
        tree = found.git.text("rev-parse", "--verify", f"{commit}^{{tree}}")
        inner = Base(commit, tree)
        try:
            pack = found.pack(inner, packs)
        except RepositoryError:  # some of its files were never fetched
            continue
        yield Submodule(prefix + path, commit, pack)
        yield from submodules(found, inner, packs, f"{prefix}{path}/", depth + 1)


def _links(repository: Repository, base: Base) -> Iterator[tuple[str, str]]:
    """Path and commit of each."""
    for row in links(listing(repository, base.tree)):
        facts, _, path = row.partition(b"\t")
        yield path.decode("utf-8", "surrogateescape"), facts.split()[-1].decode("ascii")


def _names(git: Git, commit: str) -> dict[str, str]:
    """What `.gitmodules` calls the submodule at each path; its folder of objects has that name."""
    wanted = ("config", f"--blob={commit}:.gitmodules", "--null", "--get-regexp", _PATHS)
    rows = git.call(*wanted).stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    pairs = (row.split("\n", 1) for row in rows)
    return {
        pair[1]: pair[0].removeprefix("submodule.").removesuffix(".path")
        for pair in pairs
        if len(pair) == 2
    }


def _present(place: Place, path: str, name: str, commit: str) -> Repository | None:
    """The repository of a submodule, where it has the commit."""
    # Names come from the repository's own files: one must not lead to another repository.
    if not all(_is_inside(each) for each in (path, name)):
        return None
    folders = [place.git_dir / "modules" / name, place.common_dir / "modules" / name]
    if place.work_tree is not None:
        folders.append(place.work_tree / path / ".git")
    for folder in folders:
        if (folder / "objects").is_dir():
            git = Git(folder, settings=("core.fsync=all", "core.worktree=/"))
            if git.ok("cat-file", "-e", f"{commit}^{{commit}}"):
                inside = Place(folder, folder, folder.parent, "sha1")
                return Repository(str(folder), inside, git)
    return None


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and not path.startswith("/") and not {"", ".", ".."} & set(parts)
