"""`orchestrator run --delegate`: whom our agent may hand parts of its task to."""

import json
from pathlib import Path

import pytest

from orchestrator.records import Records
from tests.api.scenario import Call, Expect, Scenario, Step
from tests.api.server import play
from tests.cli.conftest import git
from tests.cli.test_replay import offline
from tests.cli.test_resume import agents as agents
from tests.delegates.test_runs import asks

KEY = "sk-ant-0123456789abcdef"
PLUS = "sed -i 's/a - b/a + b/' sums.py"
HAND_OVER = Call("delegate", {"worker": "claude", "task": "mend the sum"})


@pytest.fixture
def delegated(agents, repository, orchestrator, home, monkeypatch):
    """What a run says whose agent delegated to Claude Code; the API is gone by then."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    steps = (
        Step("I let it be done.", (HAND_OVER,)),
        asks("claude", PLUS, expect=Expect(said=("mend the sum",), key=KEY)),
        Step("The sum is mended."),
        Step("All is well.", expect=Expect(said=("claude finished", "The sum is mended."))),
    )
    with play(Scenario(steps, side_answers=True)) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        yield orchestrator("run", "mend it", "--delegate", "claude", "--json")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def test_a_part_of_the_task_is_handed_over_and_shown_as_the_program_s(delegated, orchestrator):
    run = delegated.json
    assert (delegated.code, run["outcome"], run["said"]) == (0, "done", "All is well.")
    assert (run["task"]["delegates"], run["turns"]) == (["claude"], 4)
    shown = [line[9:] for line in delegated.err.splitlines()]
    assert "  1  delegate claude task=mend the sum" in shown
    assert f"  1  claude: Bash {PLUS} description=Work" in shown
    assert any(line.startswith("     claude stopped: complete (2 turns, ") for line in shown)
    lines = orchestrator("log", "--journal", "--json", run["id"]).text.splitlines()
    events = [json.loads(line) for line in lines]
    (ended,) = (event for event in events if event["kind"] == "delegated")
    assert (ended["delegate"], ended["turns"], ended["message"]) == (
        "claude",
        2,
        "The sum is mended.",
    )
    (changed,) = (event for event in events if event["kind"] == "changed")
    assert (changed["delegate"], changed["paths"]) == ("claude", ["sums.py"])
    assert "Delegate: claude" in git("log", "-1", "--format=%B", run["branch"]).splitlines()


def test_a_replay_needs_no_key_and_a_run_can_be_gone_on_with(delegated, orchestrator, monkeypatch):
    first = delegated.json
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    played = offline("run", "--replay", first["id"], "--json")
    assert played.returncode == 0, played.stderr
    assert "note: the replay" not in played.stderr
    again = json.loads(played.stdout)
    assert (again["tree"], again["task"]["delegates"]) == (first["tree"], ["claude"])
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    ends = Step("There is no more to do.", expect=Expect(tools=("delegate",)))
    with play(ends) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        resumed = orchestrator("resume", first["id"], "-q", "--json").json
    assert (resumed["outcome"], resumed["tree"]) == ("done", first["tree"])
    sent = json.dumps(api.requests[-1].body["messages"])
    assert "claude finished" in sent


@pytest.mark.parametrize(
    ("program", "variable"), [("claude", "ANTHROPIC_API_KEY"), ("codex", "OPENAI_API_KEY")]
)
def test_without_its_key_nothing_starts(repository, orchestrator, home, program, variable):
    Path("s.json").write_text('{"steps": [{"text": "Done."}]}')
    said = orchestrator("run", "x", "--model", "scripted:s.json", "--delegate", program)
    assert (said.code, said.err.count("error: ")) == (2, 1)
    assert f"set {variable}" in said.err
    assert not Records(home).all()


def test_what_the_file_names_can_be_left_out(repository, orchestrator):
    Path(".orchestrator.toml").write_text('[agent]\ndelegates = ["claude"]\n')
    git("add", ".orchestrator.toml")
    git("commit", "-qm", "settings")
    Path("s.json").write_text('{"steps": [{"text": "Done."}]}')
    model = ("--model", "scripted:s.json")
    assert orchestrator("run", "x", *model).code == 2
    said = orchestrator("run", "x", *model, "--delegate", "none", "--json")
    assert (said.code, said.json["task"]["delegates"]) == (0, [])
