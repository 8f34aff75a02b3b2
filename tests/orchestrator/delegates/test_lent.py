"""Our tools in the hands of a program: what they may do, and when they end."""

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from orchestrator.delegates.lent import LENT, READING, Equipped, Lent
from orchestrator.events import WorkerFinished
from orchestrator.task import Task
from orchestrator.tools.boundary import Boundary
from orchestrator.tools.table import TOOLS
from sandbox.errors import DiskFullError
from sandbox.files import FileError, anything
from sandbox.gateway.gateway import open_gateway
from tests.workspace import bench as bench
from tests.workspace import dead_box as dead_box
from tests.workspace import workspace as workspace

TOKEN = "run-token"
SOURCE = b"def add(a, b):\n    return a - b\n"
ADD = "*** Begin Patch\n*** Add File: {}\n+x = 1\n*** End Patch\n"


class Calls:
    """Calls of a program with the run's token."""

    def __init__(self, gateway):
        self.gateway = gateway

    def __call__(self, name, **arguments):
        params = {"name": name, "arguments": arguments}
        result = self.ask("tools/call", params)["result"]
        (content,) = result["content"]
        return content["text"], result["isError"]

    def ask(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        connection = http.client.HTTPConnection("gateway")
        ours, connection.sock = socket.socketpair()
        connection.sock.settimeout(60)
        self.gateway.accept(ours)
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        with closing(connection):
            connection.request("POST", "/mcp", json.dumps(message), headers)
            return json.loads(connection.getresponse().read())


@contextmanager
def lent(tmp_path):
    own = Lent(tmp_path, TOKEN)
    with open_gateway(own.door) as gateway:
        yield own, Calls(gateway)
        assert gateway.faults == []


@pytest.fixture
def call(workspace, tmp_path):
    """Calls on the files of a workspace with one file."""
    workspace.fill({"app.py": SOURCE})
    with lent(tmp_path) as (own, calls), own.at(Task("r", "p"), workspace.box):
        yield calls


def test_those_are_lent_that_are_named_and_no_others(call):
    listed = call.ask("tools/list", {})["result"]["tools"]
    assert {tool["name"] for tool in listed} == LENT
    reads = {f"mcp__orchestrator__{t['name']}" for t in listed if t["annotations"]["readOnlyHint"]}
    assert reads == READING


def test_a_model_is_told_of_them_what_our_own_is(call):
    ours = {tool.name: tool.schema for tool in TOOLS if tool.name in LENT}
    for tool in call.ask("tools/list", {})["result"]["tools"]:
        schema = ours[tool["name"]]
        assert (tool["description"], tool["inputSchema"]) == (schema.description, schema.parameters)


def test_what_one_call_knows_the_next_one_knows(call, workspace):
    assert call("split_file", path="app.py")[1] is False
    edit = {"piece": 1, "old_text": "a - b", "new_text": "a + b"}
    said, error = call("patch_file", path="app.py", edits=[edit])
    assert (said.startswith("app.py changed"), error) == (True, False)
    assert workspace.tree() == {"app.py": SOURCE.replace(b"-", b"+")}


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("split_file", {}, "missing required argument: path"),
        ("split_file", {"path": 7}, "path: expected string, got integer"),
        ("split_file", {"path": "app.py", "more": 1}, "unknown argument: more"),
        ("split_file", {"path": "app.py", "target_bytes": True}, "expected integer, got boolean"),
        ("split_file", {"path": "\ud800"}, "not valid Unicode text"),
        ("patch_file", {"path": "app.py", "edits": [{"piece": "1"}]}, "expected integer"),
        ("read_piece", {"path": "app.py", "piece": 1}, "use split_file first"),
        ("apply_patch", {"patch": "\0"}, "Nothing was changed"),
    ],
)
def test_odd_arguments_are_an_answer_of_the_tool(call, workspace, name, arguments, problem):
    said, error = call(name, **arguments)
    assert (problem in said, error) == (True, True)
    assert workspace.tree() == {"app.py": SOURCE}


def test_nothing_of_this_machine_can_be_named(call, tmp_path):
    (tmp_path / "secret").write_text("of the host")
    place = str(tmp_path / "secret")
    for path in (place, f"../..{place}"):
        assert call("split_file", path=path) == (f"{place}: No such file or directory", True)


def test_what_alone_may_change_is_asked_for_each_call(workspace, tmp_path):
    workspace.fill({"app.py": SOURCE})
    with lent(tmp_path) as (own, call), own.at(Task("r", "p", only=("app.py",)), workspace.box):
        assert call("apply_patch", patch=ADD.format("b.py"))[1] is True
        assert call("outline", path="app.py")[1] is False
    assert workspace.tree() == {"app.py": SOURCE}


def test_before_and_after_the_work_nothing_is_done(workspace, tmp_path):
    with lent(tmp_path) as (own, call):
        assert call("outline") == ("not executed: the work is over", True)
        with own.at(Task("r", "p"), workspace.box):
            call("outline")
            guard = workspace.box.guard
        assert call("outline") == ("not executed: the work is over", True)
        late = own.door._thread.submit(guard, "late.py", "")  # by a call that outlasts its wait
        with pytest.raises(FileError, match="the work is over"):
            late.result()


def test_what_others_may_change_is_for_others_to_say(workspace, tmp_path):
    workspace.fill({"app.py": SOURCE})
    workspace.box.guard_files(Boundary(("app.py",)))
    try:
        with lent(tmp_path) as (own, call), own.at(Task("r", "p"), workspace.box):
            assert call("apply_patch", patch=ADD.format("b.py"))[1] is False
            with pytest.raises(FileError, match="not allowed"):
                workspace.box.files.write("c.py", b"")
        with pytest.raises(FileError, match="not allowed"):
            workspace.box.files.write("c.py", b"")
    finally:
        workspace.box.guard_files(anything)
    workspace.box.files.write("c.py", b"")


@pytest.mark.parametrize("attempt", range(5))
def test_what_was_answered_is_what_the_end_finds(workspace, tmp_path, attempt):
    """A call that goes on when the work ends is in the files by then, or never."""
    with lent(tmp_path) as (own, call), ThreadPoolExecutor(1) as other:
        with own.at(Task("r", "p"), workspace.box):
            answer = other.submit(call, "apply_patch", patch=ADD.format("b.py"))
            call("outline")
        found = workspace.tree()
        said, error = answer.result()
    assert found == ({} if error else {"b.py": b"x = 1\n"}), said


def test_what_a_program_would_not_show_whole_is_not_replaced_unseen(workspace, tmp_path):
    workspace.fill({"app.py": b"x = 1\n" * 10_000})
    edit = {"piece": 1, "new_text": "x = 2\n"}
    with lent(tmp_path) as (own, call), own.at(Task("r", "p"), workspace.box):
        call("split_file", path="app.py", target_bytes=65_536)
        assert "smaller target_bytes" in call("read_piece", path="app.py", piece=1)[0]
        assert "read_piece has not shown" in call("patch_file", path="app.py", edits=[edit])[0]
        call("split_file", path="app.py", target_bytes=8_192)
        assert "smaller" not in call("read_piece", path="app.py", piece=1)[0]
        assert call("patch_file", path="app.py", edits=[edit])[1] is False


def test_a_dead_box_is_an_answer(dead_box, tmp_path):
    with lent(tmp_path) as (own, call), own.at(Task("r", "p"), dead_box):
        assert call("outline", path="app.py")[1] is True


def test_long_results_are_kept_and_never_without_end(workspace, tmp_path):
    names = b"".join(b"def name_%d(): pass\n" % n for n in range(2000))
    workspace.fill({"app.py": names})
    with lent(tmp_path) as (own, call), own.at(Task("r", "p"), workspace.box):
        for _ in range(12):
            said, error = call("outline", path="app.py")
            assert (len(said) < 31_000, error) == (True, False)
    assert len(list(tmp_path.iterdir())) == 8


def test_a_full_disk_out_here_ends_the_work_and_is_not_described_in_the_sandbox(
    workspace, tmp_path
):
    class Worker:
        def work(self, task, box):
            said.append(call("outline", path="app.py"))
            yield WorkerFinished(reason="complete")

    said = []
    workspace.fill({"app.py": b"".join(b"def name_%d(): pass\n" % n for n in range(2000))})
    with lent(tmp_path / "gone") as (own, call), pytest.raises(DiskFullError):
        list(Equipped(Worker(), own).work(Task("r", "p"), workspace.box))
    assert said == [("not executed: the sandbox failed", True)]


def test_whoever_is_lent_them_has_them_while_it_works(workspace, tmp_path):
    class Worker:
        def work(self, task, box):
            yield WorkerFinished(reason="complete", message=call("outline")[0])

    workspace.fill({"app.py": SOURCE})
    with lent(tmp_path) as (own, call):
        (ended,) = Equipped(Worker(), own).work(Task("r", "p"), workspace.box)
        assert "add" in ended.message
        assert call("outline")[1] is True
