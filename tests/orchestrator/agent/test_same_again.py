"""The same task with the same answers asks a model the same, byte for byte."""

from orchestrator.agent.loop import Agent
from orchestrator.task import Task
from tests.api.scenario import Call, Step
from tests.api.server import play
from tests.contracts.model_members import API_MEMBERS

FILES = {f"src/part{n}.py": f"def f{n}():\n    return {n}\n".encode() for n in range(8)}
NOISY = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; sleep 0.0$n; done; exit 3"
CHECK = "for n in 1 2 3 4 5; do echo seen $n; echo bad $n >&2; done; test -e done.txt"
STEPS = (
    Step("I look.", tuple(Call("read_file", {"path": path}) for path in FILES)),
    Step(
        calls=(Call("bash", {"command": NOISY}), Call("bash", {"command": "sleep 9", "seconds": 1}))
    ),
    Step(
        calls=(Call("list_dir"), Call("glob", {"pattern": "**/*.py"}), Call("grep", text='{"pat'))
    ),
    Step(calls=(Call("grep", {"pattern": "return"}), Call("bash", {"command": "seq 20000"}))),
    Step("It is done."),
    Step(calls=(Call("write_file", {"path": "done.txt", "content": "x"}),)),
    Step("It is done now."),
)


def test_two_runs_ask_the_same(workspace, tmp_path):
    asked = []
    for number in range(2):
        workspace.fill(FILES)
        artifacts = tmp_path / str(number)
        artifacts.mkdir()
        with play(*STEPS) as api:
            model = API_MEMBERS[0].connect(API_MEMBERS[0].access(api.url))
            list(Agent(model, artifacts).work(Task("", "Work.", checks=(CHECK,)), workspace.box))
        asked.append([request.body for request in api.asked])
    assert asked[0] == asked[1]
    assert len(asked[0]) == len(STEPS)
