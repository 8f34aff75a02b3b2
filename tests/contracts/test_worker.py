"""What holds for every worker: the run never knows which kind it drives."""

import msgspec
import pytest

from orchestrator.agent.loop import Agent
from orchestrator.command import Command
from orchestrator.events import AnyEvent, FilesTouched, Output, WorkerFinished
from orchestrator.models.scripted import Script, ScriptedModel
from orchestrator.task import Limits, Task
from sandbox.errors import SandboxLostError
from tests.workspace import bench as bench
from tests.workspace import dead_box as dead_box
from tests.workspace import workspace as workspace

CHANGE = "echo changed >> file.txt"
LIMITS = Limits(seconds=60)


def agent(artifacts, command):
    steps = [{"calls": [{"tool": "bash", "arguments": {"command": command}}]}, {"text": "Done."}]
    model = ScriptedModel(msgspec.convert({"steps": steps}, Script))
    return Agent(model, artifacts), Task("", "Go.", limits=LIMITS)


def fixer(artifacts, command):
    task = Task("", "", worker="command", command=("sh", "-c", command), limits=LIMITS)
    return Command(artifacts), task


@pytest.fixture(params=[agent, fixer])
def start(request, tmp_path, workspace):
    def work(command, box=None):
        worker, task = request.param(tmp_path, command)
        return worker.work(task, box or workspace.box)

    return work


def test_the_last_event_and_only_it_is_its_end(start):
    ends = [isinstance(event, WorkerFinished) for event in start(CHANGE)]
    assert ends == [False] * (len(ends) - 1) + [True]


def test_a_change_is_told_when_it_is_complete(start, workspace):
    seen = [workspace.tree() for event in start(CHANGE) if isinstance(event, FilesTouched)]
    assert seen == [{"file.txt": b"changed\n"}]


def test_a_failing_command_is_no_exception(start):
    assert isinstance(list(start("exit 9"))[-1], WorkerFinished)


def test_every_event_can_be_journalled(start):
    for event in start(CHANGE + r"; printf '\377\n\360\237\n'"):
        assert msgspec.json.decode(msgspec.json.encode(event), type=AnyEvent) == event


def test_nothing_happens_before_the_first_event_is_asked_for(start, workspace):
    start(CHANGE).close()
    assert workspace.tree() == {}


def test_closing_ends_what_is_going_on(start, workspace):
    events = start("echo up; sleep 4242")
    while not isinstance(next(events), Output):
        pass
    events.close()
    found = workspace.box.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    assert b"sleep 4242" not in found.stdout


def test_a_lost_sandbox_is_raised(start, dead_box):
    with pytest.raises(SandboxLostError):
        list(start(CHANGE, dead_box))
