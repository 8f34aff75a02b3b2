"""Whole runs in which the real Claude Code and Codex work, against a played API."""

import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator import planning
from orchestrator.delegates.delegate import LATE
from orchestrator.delegates.table import CLIS
from orchestrator.delegation import DelegateSettings, Delegation
from orchestrator.events import AnyEvent, Changed, Raw, RunStarted, Warned, WorkerFinished
from orchestrator.models.access import Traffic
from orchestrator.models.table import load
from orchestrator.models.traffic import Recording
from orchestrator.origin import Origin
from orchestrator.planning import Flags
from orchestrator.record import Folder, Record
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import Employ, run
from orchestrator.settings import Settings
from orchestrator.workers import hire
from sandbox.gateway.routes import Route
from tests.again import have_again
from tests.agents import have_agents
from tests.api.request import Request
from tests.api.scenario import Scenario
from tests.api.server import play
from tests.conftest import FILES, git, tiny_repository

MODELS = {"claude": "", "codex": "openai:gpt-5.5"}
"""Codex offers its tools to models that it knows."""


CODEX = Delegation(model="gpt-5.5")
USUAL = Settings(delegates=DelegateSettings(codex=CODEX))
AGENT = "anthropic:claude-sonnet-5-5"


@dataclass(frozen=True)
class Ran:
    """A run that ended, what was told on the way, and what the API was asked."""

    record: Record
    events: list[AnyEvent]
    asked: list[Request]
    repository: Path
    folder: Path
    """Its home."""
    key: str
    took: float
    """As `Heard.took` says."""

    def told(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def commits(self) -> list[str]:
        """The first lines of the branch's commits, oldest first."""
        span = f"main..{self.record.branch}"
        return git(self.repository, "log", "--reverse", "--format=%s", span).decode().splitlines()

    @property
    def paths(self) -> list[str]:
        """All files of the branch."""
        found = git(self.repository, "ls-tree", "-r", "-z", "--name-only", str(self.record.branch))
        return found.decode().split("\0")[:-1]

    def file(self, path: str) -> bytes:
        """As the branch has it."""
        return git(self.repository, "show", f"{self.record.branch}:{path}")


class Heard(list[AnyEvent]):
    """All that a run tells, and when each kind was told last."""

    def __init__(self, watch: Callable[[AnyEvent], None]) -> None:
        self._watch = watch
        self._times: dict[type, float] = {}

    def __call__(self, event: AnyEvent) -> None:
        self.append(event)
        self._times[type(event)] = time.monotonic()
        self._watch(event)

    @property
    def took(self) -> float:
        """Seconds from the last change that was recorded to the end of the work."""
        ended = self._times.get(WorkerFinished, time.monotonic())
        return ended - self._times.get(Changed, self._times[RunStarted])


@dataclass(frozen=True)
class Desk:
    """A repository and a home for its runs."""

    repository: Path
    home: Path

    def run(
        self,
        worker: str,
        scenario: Scenario,
        *,
        watch: Callable[[AnyEvent], None] = lambda event: None,
        stated: Settings = USUAL,
        traffic: Traffic | None = None,
        prompt: str = "mend add",
        origin: Origin | None = None,
        address: str = "",
        login: str = "",
        employ: Employ = hire,
        **flags: object,
    ) -> Ran:
        """Give the task to a program whose models say what the scenario says.

        They are asked at another `address` where one is given, and with a `login` likewise.
        """
        repository = Repository.open(str(self.repository), self.home)
        cli, key = CLIS[worker], f"sk-ant-api03-{secrets.token_hex(24)}"
        asked = Flags(worker=worker, **{"model": MODELS[worker], **flags})
        task = planning.task(repository.name, prompt.format(key=key), stated, asked).task
        task = replace(task, login=bool(login))
        events = Heard(watch)

        with play(scenario) as api:
            url = address or api.url
            url = url if cli.api == "anthropic" else f"{url}/v1"
            names = (*cli.models, "gpt-5.5")
            route = Route(cli.api, url, login or key, names, bearer=bool(login))
            records = Records(self.home)
            traffic = traffic or Recording()
            record = run(
                task, repository, records, route, events, traffic, employ=employ, origin=origin
            )
        unknown = [event.text for event in events if isinstance(event, Raw)]
        assert unknown == [], f"{cli.kit.image} prints what no reader knows: {unknown}"
        assert Warned(text=LATE) not in events, "a model was kept waiting for what never came"
        folder = self.home / "runs" / record.id
        return Ran(record, events, api.asked, self.repository, folder, key, events.took)

    def delegate(
        self,
        worker: str,
        scenario: Scenario,
        *,
        watch: Callable[[AnyEvent], None] = lambda event: None,
        stated: Settings = USUAL,
        traffic: Traffic | None = None,
        delegates: tuple[str, ...] = (),
        before: Ran | None = None,
        **flags: object,
    ) -> Ran:
        """Give the task to our agent, which may hand over parts of it to that program.

        The models of both say what the scenario says.
        """
        repository = Repository.open(str(self.repository), self.home)
        key = f"sk-ant-api03-{secrets.token_hex(24)}"
        asked = Flags(model=AGENT, delegates=delegates or (worker,), **flags)
        origin = Origin.of(before.record, Folder(before.folder)) if before else None
        task = planning.task(repository.name, "mend add", stated, asked).task
        events = Heard(watch)
        traffic = traffic or Recording()

        with play(scenario) as api:
            urls = {"anthropic": api.url, "openai": f"{api.url}/v1"}
            keys = {"ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key}
            model = load(AGENT, keys=keys, base_urls=urls, traffic=traffic)
            routes = {
                name: Route(
                    CLIS[name].api, urls[CLIS[name].api], key, (*CLIS[name].models, "gpt-5.5")
                )
                for name in CLIS
            }
            records, employ = Records(self.home), partial(hire, routes=routes)
            try:
                record = run(
                    task, repository, records, model, events, traffic, employ=employ, origin=origin
                )
            finally:
                model.finish()  # it was cut off where somebody said stop
        late = [event for event in events if isinstance(event, Warned) and event.text == LATE]
        assert late == [], "a model was kept waiting for what never came"
        folder = self.home / "runs" / record.id
        return Ran(record, events, api.asked, self.repository, folder, key, events.took)

    def resume(self, before: Ran, scenario: Scenario, *, fork: bool = False, **more: object) -> Ran:
        """Let the program of a run go on with it."""
        record = before.record
        origin = Origin.of(record, Folder(before.folder), fork=fork)
        more = {"prompt": "go on", "base": record.base, **more}
        return self.run(record.task.worker, scenario, origin=origin, **more)

    def have_again(self, past: Ran) -> Ran:
        """A run that ended at another desk, whose repository was the same, has ended here, too."""
        shutil.rmtree(self.repository)
        have_again(past.repository.parent, self.repository.parent)
        record = Records(self.home).load(past.record.id)
        folder = self.home / "runs" / record.id
        return replace(past, record=record, repository=self.repository, folder=folder)


@pytest.fixture(scope="session", autouse=True)
def agents() -> None:
    """The images of both programs."""
    have_agents()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tiny_repository(tmp_path / "user", FILES), tmp_path / "home")


@pytest.fixture(params=sorted(CLIS))
def worker(request: pytest.FixtureRequest) -> str:
    return request.param
