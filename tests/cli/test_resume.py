"""`orchestrator resume`: what can be gone on with, and what is said of all else."""

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.task import Task
from tests.agents import have_agents
from tests.api.scenario import Call, Scenario, Step
from tests.api.server import play
from tests.cli.conftest import git
from tests.delegates.test_runs import asks

ROOT = Path(__file__).parents[2]
PLUS = "sed -i 's/a - b/a + b/' sums.py"
SLEEP = "sleep 4242"
AT = {
    "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", ()),
    "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", ("--model", "openai:gpt-5.5")),
}
"""By worker: where its key and address are, and what else it needs."""


@pytest.fixture(scope="session")
def agents() -> None:
    have_agents()


@contextmanager
def begun(home, repository, **task):
    """A run that is at work."""
    opened = Repository.open(str(repository), home)
    base = opened.resolve("HEAD")
    with Records(home).begin(
        Task(repository=str(repository), prompt="mend it", **task),
        repository=str(repository),
        git_dir=opened.place.common_dir,
        base=base.commit,
        base_tree=base.tree,
    ) as held:
        yield held


@pytest.mark.parametrize("worker", AT)
def test_a_run_that_was_killed_goes_on(agents, worker, repository, orchestrator, home, monkeypatch):
    key, address, path, flags = AT[worker]
    steps = (asks(worker, PLUS), asks(worker, SLEEP))
    rest = Step("It is mended.")
    with play(Scenario(steps, side_answers=True, rest=rest)) as api:
        monkeypatch.setenv(key, "sk-ant-0123456789abcdef")
        monkeypatch.setenv(address, api.url + path)
        kill_at_work("run", "mend it", "--worker", worker, *flags)
        (record,) = Records(home).all()
        assert record.shown_state == "interrupted"
        said = orchestrator("resume", record.short, "-q", "--json", "--check", "grep 'a + b' *.py")
    assert (said.code, said.err) == (0, "")
    assert (said.json["outcome"], said.json["resumes"]) == ("done", record.id)
    assert said.json["base"] == record.base
    asked = [request for request in api.asked if request.asked and request.asked.tools][-1]
    assert "mend it" in json.dumps(asked.body)
    assert "Go on with the task where you left off." in asked.asked.prompt
    shown = orchestrator("show", said.json["id"]).text
    assert f"resumes     {record.id}" in shown
    assert f"{said.json['branch']} (1 commit)" in shown
    monkeypatch.delenv(key)
    replayed = orchestrator("run", "--replay", said.json["id"], "-q", "--json")
    assert (replayed.code, replayed.err) == (0, "")
    assert replayed.json["resumes"] == record.id
    assert replayed.json["tree"] == said.json["tree"]


def test_a_run_of_our_own_agent_goes_on_with_its_conversation(
    repository, orchestrator, monkeypatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    edit = Call("edit_file", {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"})
    write = Call("write_file", {"path": "new.txt", "content": "new"})
    ends = (Step("Mended."), Step(calls=(write,)), Step("Written."), Step("Nothing to do."))
    with play(Step("I mend it.", (edit,), thinking="Hm."), *ends) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        first = orchestrator("run", "mend it", "-q", "--json").json
        second = orchestrator("resume", first["id"], "write, too", "-q", "--json").json
        third = orchestrator("resume", second["id"], "-q", "--json", "--fork").json
    assert [each["outcome"] for each in (first, second, third)] == ["done"] * 3
    sent = api.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant"] * 4 + ["user"]
    said = [json.dumps(message) for message in sent if message["role"] == "user"]
    for place, words in ((0, "mend it"), (2, "write, too"), (4, "where you left off")):
        assert words in said[place]
    assert (third["resumes"], third["base"]) == (second["id"], first["base"])
    branch = third["branch"]
    assert git("show", f"{branch}:sums.py", f"{branch}:new.txt").endswith("a + b\nnew")
    assert git("rev-list", "--count", f"main..{branch}") == "2"
    rows = orchestrator("list").text.splitlines()
    listed = {row.partition(" agent ")[2].strip() for row in rows[1:]}
    assert listed == {"mend it", "mend it (resumed: write, too)", "mend it (resumed)"}
    assert [each["asked"] for each in (first, second, third)] == ["", "mend it", "mend it"]
    shown = orchestrator("show", second["id"]).text
    assert "  task        mend it (resumed)\n  added       write, too\n" in shown
    assert "  added  " not in orchestrator("show", third["id"]).text


def test_a_blocked_run_goes_on_as_its_end_says(repository, orchestrator, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    write = Call("write_file", {"path": ".github/workflows/ci.yml", "content": "on: push\n"})
    undo = Call("bash", {"command": f"rm -r .github; {PLUS}"})
    ends = (Step("Written."), Step("I take it back.", (undo,)), Step("Gone."))
    with play(Step("I write it.", (write,)), *ends) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        blocked = orchestrator("run", "mend it", "-q")
        (line,) = [each for each in blocked.text.splitlines() if " resume " in each]
        typed = line.replace("...", "leave CI alone")
        done = orchestrator(*shlex.split(typed)[1:], "-q", "--json")
    assert (blocked.code, done.code) == (3, 0)
    assert line.endswith(' "..."')
    assert "leave CI alone" in json.dumps(api.requests[-1].body["messages"])
    assert git("diff", "--name-only", "main", done.json["branch"]) == "sums.py"


def kill_at_work(*arguments):
    """Start the program, and kill it while a command sleeps."""
    start = (sys.executable, "-c", "from orchestrator.cli import main; main()")
    child = subprocess.Popen(
        [*start, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert any(SLEEP in line for line in child.stderr)
        child.send_signal(signal.SIGKILL)


def test_a_run_at_work_is_not_disturbed(repository, orchestrator, home):
    with begun(home, repository, worker="claude") as held:
        said = orchestrator("resume", held.record.id)
        held.update(state="interrupted")
    assert (said.code, said.out) == (2, b"")
    assert "is still at work: wait for its end, or stop it" in said.err


def test_a_run_that_is_not_known_is_named(repository, orchestrator):
    said = orchestrator("resume", "zzzzz")
    assert (said.code, said.err) == (
        2,
        "error: There is no run 'zzzzz': see `orchestrator list --all`.\n",
    )


@pytest.mark.parametrize(
    ("task", "advice"),
    [
        ({"worker": "command", "command": ("true",)}, "no session; run it again.\n"),
        (
            {"worker": "command", "command": ("true",), "branch": "agent/x"},
            "run it again with `--base agent/x`.\n",
        ),
        ({"worker": "agent", "conversation": "f1", "only": ("sums.py",)}, "edit sums.py"),
        ({"worker": "claude"}, "ended before its work began"),
    ],
)
def test_what_has_no_session_is_refused(repository, orchestrator, home, task, advice):
    branch = task.get("branch", "")
    task = {key: value for key, value in task.items() if key != "branch"}
    with begun(home, repository, **task) as held:
        held.update(state="interrupted", branch=branch)
    said = orchestrator("resume", held.record.id, "go on")
    assert (said.code, said.out) == (2, b"")
    assert advice in said.err
    assert len(Records(home).all()) == 1


def test_a_word_too_many_is_named(repository, orchestrator, home):
    with begun(home, repository, worker="claude") as held:
        held.update(state="interrupted")
    said = orchestrator("resume", held.record.id, "go", "on")
    assert (said.code, said.out) == (2, b"")
    assert "There is a word too many: 'on'; put the task in quotes." in said.err
