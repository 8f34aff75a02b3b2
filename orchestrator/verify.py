"""Evidence: what each check shows in a fresh container, on one recorded tree and no other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.check import check
from orchestrator.events import CheckFinished, Output, StageStarted
from orchestrator.task import Task
from sandbox import Engine, open_box
from sandbox.neighbour import Neighbour

Stage = Literal["base", "proof"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be proved: one tree, in one prepared image."""

    image: str
    tree: str
    pack: Path | None = None
    """Brings `tree` into the image; None when the image holds it already (the base)."""


def verify(
    engine: Engine,
    subject: Subject,
    task: Task,
    run: str,
    stage: Stage,
    neighbours: Sequence[Neighbour] = (),
) -> Iterator[StageStarted | Output | CheckFinished]:
    """Run every check of the task on exactly `subject.tree`, each in a fresh container.

    In a common one the first would run code of the worker's before the second looks at the files.
    Each may take as long as the work. A check's status comes from the engine, not from anything
    inside the container. Raises `sandbox.errors.SandboxError` when the container fails, which
    says nothing about the tree.
    """
    for command in task.checks:
        with open_box(
            engine, subject.image, task.box, run=run, purpose="proof", neighbours=neighbours
        ) as box:
            if subject.pack is not None:
                box.reset(subject.pack, subject.tree)
            yield from check(box, command, stage, seconds=task.limits.seconds, evidence=True)
            box.require_limit()  # else it would depend on the moment at which the watch looks
