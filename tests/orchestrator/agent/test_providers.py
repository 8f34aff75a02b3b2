"""The whole loop over every kind of model: what it says must be what each API accepts."""

import pytest

from orchestrator.agent.loop import Agent
from orchestrator.events import ToolFinished, WorkerFinished
from orchestrator.task import Task
from tests.api.scenario import Call, Expect, Step
from tests.contracts.model_members import STAGES

CHECK = "grep -q 'a + b' sums.py || { echo it subtracts; exit 1; }"
EDIT = {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"}
TASK = Task(repository="", prompt="Mend the sum.", checks=(CHECK,))


@pytest.fixture(params=STAGES.items(), ids=lambda item: item[0])
def stage(request):
    return request.param[1]


def test_a_long_way_to_a_passing_check(stage, workspace, tmp_path):
    workspace.fill({"sums.py": b"def add(a, b):\n    return a - b\n"})
    reads = (Call("read_file", {"path": "sums.py"}), Call("list_dir"), Call("grep", text='{"pat'))
    with stage(
        Step("I will l", stop="length", expect=Expect(said=("Mend the sum.",))),
        Step("I look.", reads, expect=Expect(said=("cut off",))),
        Step("", expect=Expect(said=("not valid JSON",))),
        Step("It is right.", expect=Expect(said=("was empty",))),
        Step(calls=(Call("edit_file", EDIT),), expect=Expect(said=("| it subtracts",))),
        Step(calls=(Call("finish", {"message": "It adds."}),), expect=Expect(said=("edited",))),
    ) as on:
        events = list(Agent(on.model, tmp_path).work(TASK, workspace.box))
    used = [(event.tool, event.error) for event in events if isinstance(event, ToolFinished)]
    assert sorted(used[:3]) == [("grep", True), ("list_dir", False), ("read_file", False)]
    assert used[3:] == [("edit_file", False), ("finish", False)]
    assert events[-1] == WorkerFinished(reason="complete", message="It adds.")
    assert workspace.tree() == {"sums.py": b"def add(a, b):\n    return a + b\n"}


def test_a_failing_call_again_and_again(stage, workspace, tmp_path):
    call = Call("read_file", {"path": "missing.py"})
    directed = Expect(said=("same failing result",))
    steps = [Step(calls=(call,), expect=directed if n == 3 else Expect()) for n in range(6)]
    with stage(*steps) as on:
        events = list(Agent(on.model, tmp_path).work(TASK, workspace.box))
    assert events[-1].reason == "failed"
    assert events[-1].message.startswith("stuck: ")


@pytest.mark.parametrize("arguments", ['{"path": NaN}', '{"path": 1e999}', '{"path": "\\ud800"}'])
def test_arguments_that_are_no_json_come_back_as_errors(stage, arguments, workspace, tmp_path):
    with stage(Step("\ud800", (Call("list_dir", text=arguments),)), Step("Done \udc00.")) as on:
        events = list(Agent(on.model, tmp_path).work(Task("", "Go."), workspace.box))
    assert [event.error for event in events if isinstance(event, ToolFinished)] == [True]
    assert events[-1] == WorkerFinished(reason="complete", message="Done ?.")
