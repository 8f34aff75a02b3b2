"""Whatever works on a task: one method, and the run never knows which kind it drives."""

from collections.abc import Generator
from typing import Protocol

from orchestrator.events import AnyEvent
from orchestrator.task import Task
from sandbox.box import Box


class Worker(Protocol):
    """Works on a task in a box and tells what happens, the last event being `WorkerFinished`."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Yield events as they happen; do nothing between them that is not told.

        After an event with `changes_files` the caller records the tree before it asks for the
        next one; closing the generator ends what is going on. Raises
        `sandbox.errors.SandboxError` when the box is lost; a model's failure is a
        `WorkerFinished`, not an exception.
        """
        ...
