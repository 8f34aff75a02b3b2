"""`orchestrator run --replay`: a run again, without a model, a key or a network."""

from pathlib import Path

import pytest

from tests.api.scenario import Call, Fault, Step
from tests.api.server import play
from tests.cli.conftest import git

ROOT = Path(__file__).parents[2]
KEY = "sk-ant-0123456789abcdef"
EDIT = {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"}
CHECK = "python3 check.py"
TIMED = "date; date >&2; time python3 -c 'print(object())'; mktemp; echo pid $$; false"
STEPS = (
    Step(fault=Fault(status=429, error="rate_limit_error", headers={"retry-after": "0.2"})),
    Step("First a look.", (Call("read_file", {"path": "sums.py"}), Call("list_dir"))),
    Step("It is right.", fault=Fault(after=2, then="close")),
    Step("It is right."),
    Step("No.", (Call("bash", {"command": TIMED}),), thinking="Hm."),
    Step(calls=(Call("edit_file", EDIT),)),
    Step(calls=(Call("finish", {"message": "Mended."}),)),
)


@pytest.fixture
def recorded(repository, orchestrator, monkeypatch):
    """A run with a model, recorded; its server is gone and its key forgotten."""
    with play(*STEPS) as api, monkeypatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", api.url)
        said = orchestrator("run", "mend it", "--check", CHECK, "--max-turns", "9", "--json")
    assert said.json["outcome"] == "done", said.err
    return said.json


def trees(run):
    return git("log", "--format=%T %s", f"{run['base']}..{run['branch']}")


def test_a_replay_ends_in_the_same_trees(recorded, orchestrator):
    said = orchestrator("run", "--replay", recorded["id"], "--json")
    assert (said.code, said.json["outcome"]) == (0, "done"), said.err
    assert trees(said.json) == trees(recorded)
