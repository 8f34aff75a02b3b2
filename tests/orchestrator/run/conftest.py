"""Whole runs: a real repository, a real engine, and a fixer or a scripted model at work."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from orchestrator import planning
from orchestrator.events import AnyEvent
from orchestrator.models.model import Model
from orchestrator.origin import Origin
from orchestrator.planning import Flags
from orchestrator.record import Record
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import run
from orchestrator.settings import Settings
from sandbox import Engine
from tests.conftest import FILES, git, tiny_repository

USUAL = Settings()


@dataclass(frozen=True)
class Ran:
    """A run that ended, and all that was told on the way."""

    record: Record
    events: list[AnyEvent]
    repository: Path

    def told(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def git(self, *arguments: str) -> str:
        return git(self.repository, *arguments).decode().rstrip("\n")

    @property
    def subjects(self) -> list[str]:
        """The first lines of the run's commits, oldest first."""
        span = f"main..{self.record.branch}"
        return self.git("log", "--reverse", "--format=%s", span).splitlines()


@dataclass(frozen=True)
class Desk:
    """A repository and a home for its runs."""

    repository: Path
    home: Path

    def run(
        self,
        script: str = "",
        *,
        model: Model | None = None,
        watch: Callable[[AnyEvent], None] = lambda event: None,
        stated: Settings = USUAL,
        alive: float | None = None,
        origin: Origin | None = None,
        **flags: object,
    ) -> Ran:
        """Carry out a shell script as the worker, or a task with a model.

        The containers end themselves after `alive` seconds, if it is given.
        """
        events: list[AnyEvent] = []

        def hear(event: AnyEvent) -> None:
            events.append(event)
            watch(event)

        repository = Repository.open(str(self.repository), self.home)
        command = () if model else ("sh", "-ec", script)
        planned = planning.task(
            str(self.repository), "a task", stated, Flags(command=command, **flags)
        )
        box = planned.task.box if alive is None else replace(planned.task.box, seconds=alive)
        task = replace(planned.task, box=box)
        record = run(task, repository, Records(self.home), model, hear, origin=origin)
        return Ran(record, events, self.repository)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tiny_repository(tmp_path / "repository"), tmp_path / "home")


@pytest.fixture
def desk_with(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Desk]:
    """A desk whose repository holds further files."""

    def make(files: Mapping[str, bytes]) -> Desk:
        repository = tiny_repository(tmp_path / "repository", {**FILES, **files})
        return Desk(repository, tmp_path / "home")

    return make


def containers(run: str) -> list[str]:
    """Containers of a run that still exist."""
    command = ["docker", "ps", "-aq", "--filter", f"label=run={run}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def kill_work(engine: Engine, run: str) -> None:
    """Kill the sandbox in which a run's worker is. Its relay, if it has one, ends with it."""
    of_work = {"label": [f"run={run}", "purpose=work"]}
    (box,) = engine.client.containers.list(filters=of_work)
    box.kill()
