"""What holds for every worker: the run never knows which kind it drives."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress

import msgspec
import pytest

from orchestrator.agent.loop import Agent
from orchestrator.command import Command
from orchestrator.delegates.acp_agents import KNOWN
from orchestrator.delegates.table import CLIS
from orchestrator.events import (
    AnyEvent,
    Crashed,
    FilesTouched,
    Output,
    ToolStarted,
    WorkerFinished,
)
from orchestrator.models.access import DIRECT
from orchestrator.models.scripted import Script, ScriptedModel
from orchestrator.task import Limits, Task
from orchestrator.workers import hire
from sandbox import Box, connect, open_box
from sandbox import Limits as BoxLimits
from sandbox.errors import SandboxLostError
from sandbox.gateway.gateway import Gateway, open_gateway
from sandbox.gateway.relay import Relay
from sandbox.gateway.routes import Route
from tests.agents import have_agents
from tests.api.scenario import Scenario, Step
from tests.api.server import play
from tests.delegates.test_runs import asks
from tests.workspace import Bench, prepared_image
from tests.workspace import dead_box as dead_box
from tests.workspace import workspace as workspace

CODEX_ACP = KNOWN["codex-acp"]
CHANGE = "echo changed >> file.txt"
LIMITS = Limits(seconds=240)
RUNNING = {
    "agent": Output,
    "command": Output,
    "claude": ToolStarted,
    "codex": ToolStarted,
    "acp": ToolStarted,
}
"""What is told when a command is about to run, or runs."""
MODELS = {"claude": "", "codex": "openai:gpt-5.5"}
SLEEP = b"sleep 4242 "


class Doors:
    """The way out of the one box of all tests: the door of the worker that works now."""

    def __init__(self) -> None:
        self.now = None
        self.all = []

    def turn(self, door) -> None:
        self.now = door
        self.all.append(door)

    def takes(self, request) -> bool:
        return self.now.takes(request)

    async def serve(self, request, connection) -> None:
        await self.now.serve(request, connection)

    async def close(self) -> None:
        for door in self.all:
            await door.close()


@pytest.fixture(scope="module")
def doors() -> Doors:
    return Doors()


@pytest.fixture(scope="module")
def gateway(doors) -> Iterator[Gateway]:
    with open_gateway(doors) as opened:
        yield opened


def open_worker_box(engine, image, gateway):
    near, kits = [Relay(gateway.accept)], [each.kit for each in CLIS.values()]
    kits += CODEX_ACP.kits
    return open_box(
        engine, image, BoxLimits(), run="test", purpose="work", neighbours=near, kits=kits
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory, gateway) -> Iterator[Bench]:
    have_agents(*CLIS, "codex-acp")
    engine = connect()
    image = prepared_image(engine, tmp_path_factory.mktemp("tiny"))
    with open_worker_box(engine, image, gateway) as box:
        yield Bench(engine, image, box)
    engine.client.close()


def agent(artifacts, command):
    steps = [{"calls": [{"tool": "bash", "arguments": {"command": command}}]}, {"text": "Done."}]
    model = ScriptedModel(msgspec.convert({"steps": steps}, Script))
    return Agent(model, artifacts), Task("", "Go.", limits=LIMITS)


def fixer(artifacts, command):
    task = Task("", "", worker="command", command=("sh", "-c", command), limits=LIMITS)
    return Command(artifacts), task


@pytest.fixture(params=list(RUNNING))
def kind(request) -> str:
    return request.param


def delegate(artifacts, command, kind, doors, stack):
    """A real program, whose model asks for the command and says that it is done."""
    scenario = Scenario((asks(kind, command),), side_answers=True, rest=Step("Done."))
    # Whether it comes to ask for every step is not what is held here.
    stack.enter_context(suppress(AssertionError))
    api, cli = stack.enter_context(play(scenario)), CLIS[kind]
    route = Route(cli.api, api.url if kind == "claude" else f"{api.url}/v1", "key", ("*",))
    task = Task("", "Go.", worker=kind, model=MODELS[kind], limits=LIMITS, lend=False)
    hired = hire(task, route, artifacts, DIRECT)
    doors.turn(hired.doors[0])
    return hired.worker, task


def acp(artifacts, command, doors, stack):
    """A real agent of the Agent Client Protocol, likewise."""
    scenario = Scenario((asks("codex", command),), side_answers=True, rest=Step("Done."))
    stack.enter_context(suppress(AssertionError))
    api = stack.enter_context(play(scenario))
    route = Route("openai", f"{api.url}/v1", "key", ("*",))
    model, words = MODELS["codex"], ("codex-acp",)
    task = Task("", "Go.", worker="acp", command=words, model=model, limits=LIMITS)
    hired = hire(task, (route,), artifacts, DIRECT)
    doors.turn(hired.doors[0])
    return hired.worker, task


@pytest.fixture
def start(kind, tmp_path, workspace, doors):
    """Give a worker the task to run a command; what it does ends with the test."""
    with ExitStack() as stack:

        def work(command, box=None):
            if kind in CLIS:
                worker, task = delegate(tmp_path, command, kind, doors, stack)
            elif kind == "acp":
                worker, task = acp(tmp_path, command, doors, stack)
            else:
                worker, task = {"agent": agent, "command": fixer}[kind](tmp_path, command)
            return stack.enter_context(closing(worker.work(task, box or workspace.box)))

        yield work


def test_the_last_event_and_only_it_is_its_end(start):
    ends = [isinstance(event, WorkerFinished) for event in start(CHANGE)]
    assert ends == [False] * (len(ends) - 1) + [True]


def test_a_change_is_told_when_it_is_complete(start, workspace):
    seen = [workspace.tree() for event in start(CHANGE) if isinstance(event, FilesTouched)]
    assert seen[0] == {"file.txt": b"changed\n"}
    assert seen == [seen[0]] * len(seen)


def test_a_failing_command_is_no_exception(start):
    assert isinstance(list(start("exit 9"))[-1], WorkerFinished)


def test_every_event_can_be_journalled(start):
    for event in start(CHANGE + r"; printf '\377\n\360\237\n'"):
        assert msgspec.json.decode(msgspec.json.encode(event), type=AnyEvent) == event


def test_nothing_happens_before_the_first_event_is_asked_for(start, workspace, tmp_path, kind):
    start(CHANGE).close()
    assert workspace.tree() == {}
    assert list(tmp_path.glob("*.jsonl")) == []


def running(box) -> bytes:
    return box.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]).stdout


def begin(events, kind, box) -> None:
    """Until the command that sleeps is seen to run."""
    while not isinstance(next(events), RUNNING[kind]):
        pass
    until = time.monotonic() + 60
    while SLEEP not in running(box):
        assert time.monotonic() < until


def test_closing_ends_what_is_going_on(start, workspace, kind):
    events = start("echo up; sleep 4242")
    begin(events, kind, workspace.box)
    events.close()
    assert SLEEP not in running(workspace.box)


def test_a_lost_sandbox_is_raised(start, dead_box):
    with pytest.raises(SandboxLostError):
        list(start(CHANGE, dead_box))


@pytest.fixture
def another_box(bench, gateway) -> Iterator[Box]:
    """One that may die."""
    with open_worker_box(bench.engine, bench.image, gateway) as box:
        yield box


def test_a_sandbox_that_dies_in_mid_work_is_told_and_gone_on_with(
    start, bench, another_box, kind, tmp_path
):
    """In a new box the command ends at once: its file is not there any more."""
    events = start("echo up; test -e /tmp/new || sleep 4242; echo changed >> file.txt", another_box)
    begin(events, kind, another_box)
    bench.engine.client.containers.get(another_box.id).kill()
    for event in events:
        if isinstance(event, Crashed):
            another_box.reopen()
            another_box.run(["touch", "/tmp/new"])
    assert isinstance(event, WorkerFinished)
    assert another_box.openings == 2
