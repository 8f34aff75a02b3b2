"""What a worker is told and handed of the repository before it begins, from the base commit."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from orchestrator.attempt import Attempt
from orchestrator.committed import Committed
from orchestrator.delegates.handed import handed
from orchestrator.delegates.table import CLIS
from orchestrator.errors import GitError
from orchestrator.events import Warned
from orchestrator.instructions import instructions
from orchestrator.map import MapError, of_base
from orchestrator.repository import Base, Repository
from orchestrator.settings import Policy
from orchestrator.task import Task, WorkerKind


def briefed(
    attempt: Attempt, task: Task, repository: Repository, base: Base, policy: Policy, pack: Path
) -> Task:
    """The task with what its worker is told; what cannot be read is told to whoever watches."""
    if task.worker == "command":
        return task
    task = _with_map(attempt, task, repository, base, pack)
    try:
        committed = Committed.of(repository, base, policy, pack)
        return _handed(attempt, _told(attempt, task, committed), committed)
    except GitError as problem:
        attempt.tell(Warned(text=f"The repository's instructions cannot be read: {problem}."))
        return task


def _told(attempt: Attempt, task: Task, committed: Committed) -> Task:
    if not task.instructions:
        return task
    found = instructions(committed)
    attempt.tell_all(Warned(text=text) for text in found.warnings)
    return replace(task, told=found.text)


def _handed(attempt: Attempt, task: Task, committed: Committed) -> Task:
    """With what delegates are handed: the worker itself, or whom our agent may give a part to."""
    if task.worker == "acp":  # of an agent of any make nothing but the prompt is known
        return task
    if task.worker in CLIS:
        found = handed(committed, task)
        attempt.tell_all(Warned(text=text) for text in found.warnings)
        return replace(task, for_delegates={task.worker: found.handed})
    workers = {name: replace(task, worker=cast("WorkerKind", name)) for name in task.delegates}
    each = {name: handed(committed, given) for name, given in workers.items()}
    said = dict.fromkeys(text for found in each.values() for text in found.warnings)
    attempt.tell_all(Warned(text=text) for text in said)
    return replace(task, for_delegates={name: found.handed for name, found in each.items()})


def _with_map(attempt: Attempt, task: Task, repository: Repository, base: Base, pack: Path) -> Task:
    if not task.map_tokens or task.worker != "agent":
        return task
    try:
        return replace(task, map=of_base(repository, base, task.map_tokens, pack))
    except (MapError, GitError) as problem:
        attempt.tell(Warned(text=f"The agent has no map of the repository: {problem}."))
        return task
