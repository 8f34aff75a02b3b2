"""A run that kills itself, as `kill -9` would, at a named step; a program, started by tests.

    python -m tests.killed_run REPOSITORY HOME STEP [claude | codex]

The steps are what a run tells (events and whose output it shows), and what Python tells of itself
(audit events: the programs it starts, the files it renames). Nothing of the product knows of it.
"""

import os
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from orchestrator import planning, settings
from orchestrator.delegates.table import CLIS
from orchestrator.events import AnyEvent, Output, StageStarted
from orchestrator.planning import Flags
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import run
from sandbox.gateway.routes import Route
from tests.api.scenario import Scenario
from tests.api.server import play
from tests.delegates.conftest import MODELS
from tests.delegates.test_runs import asks

SCRIPT = "echo '# more' >> README.md"


PROGRAMS = {
    "admit": ("index-pack", "quarantine.git"),
    "import": ("index-pack", "repository/.git"),
    "branch": ("update-ref", "refs/heads/agent/"),
}
"""Steps that are a program's start, and words of its command line."""


def name(event: AnyEvent) -> str:
    """What tests call an event: `changed`, `proof output`."""
    kind = str(event.__struct_config__.tag)
    return f"{event.stage} {kind}" if isinstance(event, Output | StageStarted) else kind


def audited(event: str, arguments: tuple[object, ...]) -> str:
    """What tests call an audit event: `branch`, `record finished`."""
    if event == "subprocess.Popen":
        line = " ".join(str(word) for word in arguments[1])  # type: ignore[attr-defined]
        for what, words in PROGRAMS.items():
            if all(word in line for word in words):
                return what
    if event == "os.rename" and str(arguments[1]).endswith("run.json"):
        state = "finished" if b'"finished"' in Path(str(arguments[0])).read_bytes() else "running"
        return f"record {state}"
    return ""


def brain(stack: ExitStack, worker: str) -> tuple[Flags, Route | None]:
    """What is asked for: a command, or a program whose played model has one file changed."""
    if not worker:
        return Flags(command=("sh", "-ec", SCRIPT)), None
    steps = Scenario((asks(worker, SCRIPT),), side_answers=True, rest=asks(worker, "sleep 4242"))
    api, cli = stack.enter_context(play(steps)), CLIS[worker]
    url = api.url if cli.api == "anthropic" else f"{api.url}/v1"
    return Flags(worker=worker, model=MODELS[worker]), Route(cli.api, url, "key", ("*",))


def main(repository: str, home: str, step: str, worker: str = "") -> None:
    def die_at(where: str) -> None:
        if where == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(lambda event, arguments: die_at(audited(event, arguments)))
    opened = Repository.open(repository, Path(home))
    with ExitStack() as stack:
        asked, route = brain(stack, worker)
        flags = replace(asked, checks=("cat README.md",), setup=(f"echo {home}",))
        planned = planning.task(repository, "a task", settings.Settings(), flags)
        run(planned.task, opened, Records(Path(home)), route, lambda event: die_at(name(event)))


if __name__ == "__main__":
    main(*sys.argv[1:])
