"""Whole runs in which an agent of the Agent Client Protocol works, against a played API."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator import planning
from orchestrator.delegates.table import CLIS
from orchestrator.events import AnyEvent
from orchestrator.models.access import Traffic
from orchestrator.models.traffic import Recording
from orchestrator.origin import Origin
from orchestrator.planning import Flags
from orchestrator.record import Folder
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import run
from orchestrator.settings import Settings
from orchestrator.task import Limits
from sandbox.gateway.routes import Route
from tests.api.scenario import Scenario
from tests.api.server import play
from tests.conftest import FILES, tiny_repository
from tests.delegates.conftest import Heard, Ran

AGENT = ".agent.py"
NOTHING = Scenario((), side_answers=True)
USUAL = Limits()
CODEX_ACP = ("codex-acp",)
CLAUDE_AGENT_ACP = ("claude-agent-acp",)


@dataclass(frozen=True)
class Desk:
    """A repository that has the agent in it, and a home for its runs."""

    repository: Path
    home: Path

    @classmethod
    def at(cls, folder: Path) -> "Desk":
        agent = Path(__file__).with_name("agent.py").read_bytes()
        files = {**FILES, AGENT: agent, "AGENTS.md": b"Use tabs.\n"}
        return cls(tiny_repository(folder / "user", files), folder / "home")

    def fake(self, mode: str, **more: object) -> Ran:
        """Let the fake agent do this."""
        return self.run(("python3", AGENT, mode), NOTHING, **more)

    def run(
        self,
        command: tuple[str, ...],
        scenario: Scenario,
        *,
        limits: Limits = USUAL,
        apis: tuple[str, ...] = ("openai",),
        model: str = "",
        prompt: str = "mend add",
        watch: Callable[[AnyEvent], None] = lambda event: None,
        traffic: Traffic | None = None,
        origin: Origin | None = None,
        **flags: object,
    ) -> Ran:
        """Give the task to an agent whose models say what the scenario says."""
        repository = Repository.open(str(self.repository), self.home)
        key = f"sk-ant-api03-{secrets.token_hex(24)}"
        asked = Flags(worker="acp", command=command, model=model, **flags)
        stated = Settings(limits=limits)
        task = planning.task(repository.name, prompt, stated, asked).task
        events = Heard(watch)

        with play(scenario) as api:
            urls = {"anthropic": api.url, "openai": f"{api.url}/v1"}
            routes = tuple(
                Route(cli.api, urls[cli.api], key, (*cli.models, "gpt-5.5"))
                for cli in CLIS.values()
                if cli.api in apis
            )
            records = Records(self.home)
            traffic = traffic or Recording()
            record = run(task, repository, records, routes, events, traffic, origin=origin)
        folder = self.home / "runs" / record.id
        return Ran(record, events, api.asked, self.repository, folder, key, events.took)

    def resume(self, before: Ran, scenario: Scenario, **more: object) -> Ran:
        """Let the agent of a run go on with it."""
        origin = Origin.of(before.record, Folder(before.folder))
        more = {"prompt": "go on", "base": before.record.base, **more}
        return self.run(before.record.task.command, scenario, origin=origin, **more)
