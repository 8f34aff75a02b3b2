"""Making the image ready that a run starts from, and keeping what set-up printed."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.attempt import Attempt
from orchestrator.events import Output, Prepared, SetupFailed, StageStarted
from orchestrator.history import history
from orchestrator.inputs import remembered
from orchestrator.repository import Base, Repository
from orchestrator.submodules import submodules
from orchestrator.task import Task
from orchestrator.ways import Ways, tell_refused
from sandbox import Engine, Line, Source, prepare
from sandbox.errors import SetupError
from sandbox.images import BASE_IMAGE

LOG = "setup.log"
KEPT = 64 << 20
"""Bytes of set-up's output that are kept."""


def source(task: Task, repository: Repository, base: Base, pack: Path) -> Source:
    """What the sandbox is given of the repository."""
    return Source(
        base.commit,
        base.tree,
        pack,
        lineage=str(repository.place.common_dir),
        inputs=remembered(repository, base, task.setup, task.setup_inputs, pack).digest,
        history=history(repository, base, pack, task.history),
        submodules=tuple(submodules(repository, base, pack.parent)),
    )


def prepare_image(attempt: Attempt, engine: Engine, task: Task, given: Source, ways: Ways) -> str:
    """Find or build the image, tell what there is to tell, and give its id.

    Raises `sandbox.errors.SandboxError`; one about set-up says where all of its output is.
    """
    attempt.tell(StageStarted(stage="setup"))
    with _refusals_told(attempt, ways), _told_where(attempt) as log:

        def show(line: Line) -> None:
            log.add(line)
            attempt.tell(Output(stream=line.stream, text=line.text, stage="setup"))

        prepared = prepare(
            engine,
            task.image or BASE_IMAGE,
            given,
            setup=task.setup,
            neighbours=ways.setup.neighbours,
            reach=ways.reach,
            on_line=show,
            owner=owner(attempt.held.folder.home),
        )
    attempt.tell(
        Prepared(
            image=prepared.image,
            cached=prepared.cached,
            reused=prepared.reused,
            seconds=prepared.seconds,
            left=prepared.left,
            restored=prepared.restored,
        )
    )
    return prepared.image


def owner(home: Path) -> str:
    """How the images of a home are marked."""
    return f"{platform.node()}:{home.absolute()}"


def abandoned(owner: str) -> bool:
    """Whether the home of an image is gone; of another machine's nobody here can tell."""
    machine, _, home = owner.partition(":")
    return machine == platform.node() and not Path(home).is_dir()


@dataclass(slots=True)
class _Log:
    """The first lines of an output, up to `KEPT` bytes."""

    file: BinaryIO
    size: int = 0

    def add(self, line: Line) -> None:
        text = line.text.encode("utf-8", "surrogateescape") + b"\n"
        if self.size < KEPT:
            self.file.write(text[: KEPT - self.size])
        self.size += len(text)


@contextmanager
def _refusals_told(attempt: Attempt, ways: Ways) -> Iterator[None]:
    try:
        yield
    finally:
        tell_refused(attempt, ways.setup, "setup")


@contextmanager
def _told_where(attempt: Attempt) -> Iterator[_Log]:
    folder = attempt.held.folder.artifacts
    folder.mkdir(exist_ok=True)
    path = folder / LOG
    with path.open("wb", buffering=0) as file:
        log = _Log(file)
        try:
            yield log
        except SetupError as error:
            if not log.size:
                raise
            attempt.tell(SetupFailed(tail=error.output, file=str(path)))
            raise SetupError(f"{error} All it printed is in {path}.", error.output) from error
        finally:
            if log.size > KEPT:
                file.write(b"\n[%d bytes more are not kept]\n" % (log.size - KEPT))
            elif not log.size:
                path.unlink()
