"""Where the next edit of a file starts: at the last one, when that stands on what is there now."""

from dataclasses import dataclass

from orchestrator.delivery import branch_of
from orchestrator.errors import UsageError
from orchestrator.renames import earlier_names, is_file, later_name
from orchestrator.repository import Repository

_BEFORE = "The messages before the last task are of earlier edits of this file."
_GOES_ON = f"{_BEFORE} The files are as the last of them left them."
_CONTAINED = f"{_BEFORE} The files are those of {{}}, which has the last of them."
_ANEW = (
    f"{_BEFORE} The files are those of {{}}: what these edits changed may be missing,"
    " so read the file again."
)


@dataclass(frozen=True, slots=True)
class Start:
    """What an edit starts from."""

    base: str
    path: str
    """What the file is called there."""
    note: str
    """For the person who asked; often empty."""
    remark: str
    """For the model; empty where nothing was said before."""


def start(repository: Repository, path: str, runs: tuple[str, ...], base: str | None) -> Start:
    """Choose a base after these runs about the file; one that was asked for is taken.

    Raises UsageError when the file is not in it.
    """
    if base is not None:
        commit = repository.resolve(base).commit
        return _at(repository, path, base, commit, "", _ANEW.format(base) if runs else "")
    head = repository.resolve("HEAD").commit
    branch = _last_branch(repository, runs)
    tip = branch and repository.branch(branch)
    if not branch or not tip:
        return _at(repository, path, "HEAD", head, "", _ANEW.format("HEAD") if runs else "")
    if _is_in(repository, tip, head):
        return _at(repository, path, "HEAD", head, "", _CONTAINED.format("HEAD"))
    if _is_in(repository, head, tip):
        note = f"going on from {branch}, which has the last edit of {path}."
        return _at(repository, path, branch, tip, note, _GOES_ON)
    note = (
        f"the last edit of {path}, {branch}, does not stand on HEAD: starting from HEAD, without"
        f" it; `--base {branch}` goes on from there."
    )
    return _at(repository, path, "HEAD", head, note, _ANEW.format("HEAD"))


def _last_branch(repository: Repository, runs: tuple[str, ...]) -> str:
    """The branch of the newest run that still has one."""
    branches = map(branch_of, reversed(runs))
    return next((branch for branch in branches if repository.branch(branch)), "")


def _is_in(repository: Repository, older: str, newer: str) -> bool:
    return repository.git.ok("merge-base", "--is-ancestor", older, newer)


def _at(repository: Repository, path: str, base: str, commit: str, note: str, remark: str) -> Start:
    name = _name_at(repository, path, commit)
    if name is None:
        raise UsageError(_missing(repository, path, base))
    if name != path:
        note = " ".join(filter(None, (note, f"{path} is called {name} there.")))
    return Start(base, name, note, remark)


def _name_at(repository: Repository, path: str, commit: str) -> str | None:
    """What the file is called in a commit, before or after it got its present name."""
    at_head = None
    for name in (path, *earlier_names(repository, path)):
        if is_file(repository, commit, name):
            return name
        if at_head is None and is_file(repository, "HEAD", name):
            at_head = name
    if at_head is None:
        return None
    later = later_name(repository, at_head, "HEAD", commit)
    return later if is_file(repository, commit, later) else None


def _missing(repository: Repository, path: str, base: str) -> str:
    place = repository.place.work_tree and repository.place.work_tree / path
    if place and place.is_symlink():
        return f"{path} is a link: name the file that it leads to."
    if place and place.exists():
        return f"{path} is not in {base}: commit it first, or name another commit with --base."
    return f"There is no file {path} in {base}: check the path."
