"""Whatever works on a task: one method, and the run never knows which kind it drives."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

from orchestrator.events import AnyEvent, Crashed
from orchestrator.task import Task
from sandbox.box import Box
from sandbox.errors import SandboxLostError
from sandbox.gateway.budget import Used
from sandbox.gateway.door import Door
from sandbox.kit import Kit


class Worker(Protocol):
    """Works on a task in a box and tells what happens, the last event being `WorkerFinished`."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Yield events as they happen; do nothing between them that is not told.

        After an event with `changes_files` the caller records the tree before it asks for the
        next one; closing the generator ends what is going on. After `Crashed` the caller
        opens the box again with the files as last recorded, or gives up; it may do so after any
        event with `changes_files`, too, and `box.openings` tells. Raises
        `sandbox.errors.SandboxError` when the box ended at a limit of its own; a model's failure
        is a `WorkerFinished`, not an exception.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hired:
    """A worker with what its sandbox has for it."""

    worker: Worker
    doors: tuple[Door, ...] = ()
    """Ways out that only the worker has, and no proof."""
    kits: tuple[Kit, ...] = ()
    listen: Callable[[AnyEvent], None] = lambda event: None
    """Is told every event of the run, what is recorded included."""
    used: Callable[[], Used] = Used
    """What it used of models by its doors."""


def reopened(box: Box, lost: SandboxLostError) -> Iterator[Crashed]:
    """Tell the caller of a dead box, so that it is open again when this returns.

    Raises `lost` when it was not opened again, or when the box ended at a limit of its own.
    """
    if lost.limit:
        raise lost
    before = box.openings
    yield Crashed(reason=str(lost))
    if box.openings == before:
        raise lost
