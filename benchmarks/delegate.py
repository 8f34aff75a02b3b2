"""What it costs to watch Claude Code or Codex at work: the delay of a line, and a whole run's work.

The same program goes through the same scenario in a bare container, by the host's network, its
lines only collected; and as a delegate in a new box, by relay and gateway, each line read and told.
What is recorded and proved besides is measured elsewhere. The engine must run on this machine: a
line carries the time at which it was printed, and all clocks are one.
"""

import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from benchmarks.measure import compare, show
from containers import AGENTS
from orchestrator.delegates.account import Account
from orchestrator.delegates.claude import Claude
from orchestrator.delegates.cli import Cli
from orchestrator.delegates.delegate import Delegate
from orchestrator.delegates.table import CLIS
from orchestrator.delegates.transcript import Transcript
from orchestrator.events import Text, WorkerFinished
from orchestrator.models.access import DIRECT
from orchestrator.task import Limits as Bounds
from orchestrator.task import Task
from sandbox import Box, Engine, Limits, connect, open_box, toolbox
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route
from sandbox.kit import Kit
from sandbox.neighbour import Neighbour
from tests.api.scenario import Call, Scenario, Step
from tests.api.server import play

ROUNDS, TICKS, LINES = 5, 500, 100_000
TASK = Task("", "Look around.", limits=Bounds(seconds=300, turns=50), lend=False)
NOBODY = Route("anthropic", "http://127.0.0.1:9", "", ())
_DELTA = '{"type": "stream_event", "event": {"delta": {"text": "%s"}}}'
TICK = f"""import time
for _ in range({TICKS}):
    print('{_DELTA}' % time.time(), flush=True)
    time.sleep(0.01)
"""
FLOOD = f"""for number in range({LINES}):
    print('{_DELTA}' % ('a piece of usual length %d' % number))
"""


class Script(Claude):
    """A Python program in the place of `claude`."""

    name = "python3"

    def __init__(self, script: str) -> None:
        super().__init__()
        self.script = script

    def command(self, task: Task, before: Transcript | None) -> Sequence[str]:
        return ("python3", "-c", self.script)


def _lines(box: Box, folder: Path, script: str) -> Iterator[str]:
    """The texts that a script prints as a delegate, as they are told."""
    with TemporaryDirectory(dir=folder) as artifacts:
        account = Account.open(TASK, (NOBODY,), DIRECT)
        for event in Delegate(Script(script), account, Path(artifacts)).work(TASK, box):
            if isinstance(event, Text):
                yield event.text


def _wire(box: Box, folder: Path) -> None:
    delays = [time.time() - float(text) for text in _lines(box, folder, TICK)]
    rank = statistics.quantiles(delays, n=100)
    print(f"\nA line, printed to told: p50 {rank[49] * 1000:.2f} ms, p95 {rank[94] * 1000:.2f} ms")
    print(f"  with {os.getloadavg()[0]:.1f} processes at work on {os.cpu_count()} cores")
    began = time.perf_counter()
    count = sum(1 for _ in _lines(box, folder, FLOOD))
    assert count == LINES
    print(f"  {count / (time.perf_counter() - began):,.0f} lines a second, its start included")


def _scenario(name: str) -> Scenario:
    command = {"command": "ls", "description": "Look"}
    call = Call("exec_command", {"cmd": "ls"}) if name == "codex" else Call("Bash", command)
    return Scenario((*[Step(calls=(call,))] * 5, Step("Done.")), side_answers=True)


@dataclass(frozen=True)
class _Bench:
    engine: Engine
    image: str
    folder: Path

    def delegated(self, cli: Cli, task: Task) -> None:
        """In a new box, by relay and gateway, from nothing to the box's removal."""
        with ExitStack() as stack:
            api = stack.enter_context(play(_scenario(cli.name)))
            artifacts = stack.enter_context(TemporaryDirectory(dir=self.folder))
            url = api.url if cli.api == "anthropic" else f"{api.url}/v1"
            account = Account.open(task, (Route(cli.api, url, "key", ("*",)),), DIRECT)
            gateway = stack.enter_context(open_gateway(account.door))
            box = stack.enter_context(self.box([Relay(gateway.accept)], [cli.kit]))
            *_, ended = Delegate(cli, account, Path(artifacts)).work(task, box)
            assert isinstance(ended, WorkerFinished), ended
            assert ended.reason == "complete", ended

    def bare(self, cli: Cli, task: Task) -> None:
        """In a container of its own, by the host's network, its lines only collected."""
        with play(_scenario(cli.name)) as api:
            found = f"127.0.0.1:{PORT}", api.url.removeprefix("http://")
            words = [word.replace(*found) for word in cli.command(task, None)]
            seen = {key: text.replace(*found) for key, text in cli.environment(task, "t").items()}
            env = [f"--env={key}={text}" for key, text in {**seen, "HOME": "/home/agent"}.items()]
            kit = f"--volume={toolbox.filled(self.engine, {}, cli.kit)}:{cli.kit.place}:ro"
            place = ["--user=10001", "--tmpfs=/home/agent:uid=10001,exec", "--workdir=/workspace"]
            docker = ["docker", "run", "--rm", "-i", "--init", "--network=host", kit, *place]
            command = [*docker, *env, f"--entrypoint={words[0]}", self.image, *words[1:]]
            done = subprocess.run(command, input=task.prompt.encode(), capture_output=True)
            assert done.returncode == 0, done.stderr

    def box(
        self, near: Sequence[Neighbour] = (), kits: Sequence[Kit] = ()
    ) -> AbstractContextManager[Box]:
        return open_box(
            self.engine,
            self.image,
            Limits(),
            run="benchmark",
            purpose="work",
            neighbours=near,
            kits=kits,
        )


def _overhead(bench: _Bench, cli: Cli) -> None:
    model = "openai:gpt-5.5" if cli.name == "codex" else ""
    task = replace(TASK, worker=cli.name, model=model)
    medians = compare(
        {
            "docker run": lambda: bench.bare(cli, task),
            "sealed, watched, by the gateway": lambda: bench.delegated(cli, task),
        },
        ROUNDS,
    )
    show(f"{cli.name}, six answers and five commands", medians, "docker run", ROUNDS)


def main() -> None:
    subprocess.run(["sh", str(AGENTS)], check=True)
    engine = connect()
    with small_repository() as path, TemporaryDirectory(prefix="benchmark-") as home:
        bench = _Bench(engine, prepared(engine, path, Path(home)).image, Path(home))
        with bench.box() as box:
            _wire(box, bench.folder)
        for cli in CLIS.values():
            _overhead(bench, cli)


if __name__ == "__main__":
    main()
