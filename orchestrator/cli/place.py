"""Where a command works: the home folder, the runs in it, and the repository around it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace
from platformdirs import user_state_path

from orchestrator.cli.options import HOME
from orchestrator.delivery import merged_by_hand, publish
from orchestrator.errors import GitError, RecordError, RepositoryError, UsageError
from orchestrator.git import find
from orchestrator.journal import Journal
from orchestrator.quarantine import Quarantine
from orchestrator.record import Damaged, Record
from orchestrator.records import Held, Records
from orchestrator.repository import Repository

R = TypeVar("R", Record, Record | Damaged)


def home() -> Path:
    """The folder named by --home or ORCHESTRATOR_HOME, else the platform's state folder."""
    named = os.environ.get(HOME)
    return Path(named).absolute() if named else user_state_path("orchestrator")


def existing(path: Path) -> Path:
    """The path itself, or the nearest one above it that exists."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))


def records() -> Records:
    """The runs that are kept. Raises UsageError when their folder can be none."""
    nearest = existing(home())
    if not nearest.is_dir():
        raise UsageError(f"{nearest} is not a folder: name another with --home or {HOME}.")
    return Records(home())


def choose(run: str | None) -> Record:
    """The run that was named; without a name the newest of this repository.

    Outside of any repository, the newest of all. Raises RecordError when there is none.
    """
    if run is not None:
        return records().find(run)
    for record in here(records().all()):
        if isinstance(record, Record):
            return record
    raise RecordError("There is no run of this repository: see `orchestrator list --all`.")


def choose_to_change(run: str | None) -> Record:
    """As `choose`, for what changes a repository: outside of any, the run has to be named."""
    if run is None and common_dir() is None:
        raise RecordError("This is no repository: name the run, see `orchestrator list --all`.")
    return choose(run)


def here(found: tuple[Record | Damaged, ...]) -> tuple[Record | Damaged, ...]:
    """Of these runs those of the repository around us; all of them where there is none."""
    around = common_dir()
    if around is None:
        return found
    ours = str(around)
    return tuple(run for run in found if isinstance(run, Record) and run.git_dir == ours)


def common_dir() -> Path | None:
    """The git directory, shared by all worktrees, of the repository around us.

    One without a commit, in which nothing can run, is one, too: runs elsewhere are not its own.
    """
    try:
        return find(Path()).common_dir
    except GitError:
        return None


def _around() -> Repository | None:
    try:
        return Repository.open(".", home())
    except RepositoryError:
        return None


def repository_of(record: Record) -> Repository:
    """The repository of a run: through the worktree we are in, if it is one of its worktrees."""
    around = _around()
    if around and str(around.place.common_dir) == record.git_dir:
        return around
    return Repository.open(record.git_dir, home())


def as_merged(runs: Sequence[R]) -> tuple[R, ...]:
    """The runs, with the merges that were made by `git merge`, where HEAD's branch has them.

    Git is asked once for each repository, whatever the number of its runs.
    """
    asked: dict[str, list[Record]] = {}
    for run in runs:
        if isinstance(run, Record) and run.branch and not run.merged:
            asked.setdefault(run.git_dir, []).append(run)
    merged = {each.id: commit for few in asked.values() for each, commit in _merged(few)}
    seen = (replace(run, merged=merged[run.id]) if run.id in merged else run for run in runs)
    return tuple(seen)


def _merged(runs: Sequence[Record]) -> list[tuple[Record, str]]:
    """Those of a repository's runs that were merged by hand, each with the commit that did it."""
    # No run's commit can be in the history of what the oldest of them began from.
    oldest = min(runs, key=lambda run: run.created)
    try:
        brought = merged_by_hand(repository_of(oldest), oldest.base)
    except (RepositoryError, GitError):
        return []  # moved away
    return [(run, brought[run.tip]) for run in runs if run.tip in brought]


def branch_is_gone(record: Record) -> bool:
    """Whether somebody deleted the run's branch by git alone, without merging it."""
    if not record.branch or record.merged or record.discarded:
        return False
    try:
        return repository_of(record).branch(record.branch) is None
    except (RepositoryError, GitError):
        return False  # moved away


def publish_late(held: Held) -> Record:
    """The record, after writing the branch that could not be written when its run ended."""
    record = held.record
    if not record.unpublished or record.discarded:
        return record
    quarantine = quarantine_of(record)
    squashed = record.tip != quarantine.tip
    repository = repository_of(record)
    delivered = publish(repository, quarantine, record.id, record.tip, squashed=squashed)
    with Journal(held.folder.journal) as journal:
        journal.write(delivered)
    return held.update(branch=delivered.branch, unpublished="")


def quarantine_of(record: Record) -> Quarantine:
    """All changes of a run. Raises QuarantineError when they are gone."""
    return Quarantine.open(records().folder(record.id).quarantine)
