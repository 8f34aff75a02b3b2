"""`--worker acp` as a person types it: an agent of the repository's own, which needs no model."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import git

AGENT = Path(__file__).parents[1] / "acp" / "agent.py"


@pytest.fixture
def agent(repository):
    """The repository with the agent in it."""
    Path("agent.py").write_bytes(AGENT.read_bytes())
    git("add", "agent.py")
    git("commit", "-qm", "an agent")


def test_an_agent_works_and_cannot_be_resumed(agent, orchestrator):
    command = "python3 agent.py 'run echo new > new.txt'"
    said = orchestrator("run", "make a file", "--worker", "acp", "--command", command, "--json")
    assert said.code == 0, said.err
    assert (said.json["outcome"], said.json["task"]["command"][0]) == ("done", "python3")
    assert "note: no key is set (ANTHROPIC_API_KEY or OPENAI_API_KEY)" in said.err
    assert "execute echo new > new.txt" in said.err
    assert git("show", f"{said.json['branch']}:new.txt") == "new"
    again = orchestrator("resume", said.json["id"])
    assert (again.code, again.err.count("\n")) == (2, 1)
    advice = f"run it again with `--base {said.json['branch']}`"
    assert f"where python3 keeps its sessions is not known; {advice}" in again.err


def test_the_agent_of_the_file_is_taken(agent, orchestrator):
    words = json.dumps("python3 agent.py 'run echo two > two.txt'")
    Path(".orchestrator.toml").write_text(f"[delegates.acp]\ncommand = {words}\n")
    git("add", ".orchestrator.toml")
    git("commit", "-qm", "rules")
    said = orchestrator("run", "make a file", "--worker", "acp")
    assert "execute: echo two > two.txt" in git("log", "--all", "--format=%s")
    assert said.code == 0


def test_without_a_command_it_says_what_to_do(repository, orchestrator):
    said = orchestrator("run", "make a file", "--worker", "acp")
    assert said.code == 2
    assert '--command "codex-acp"' in said.err
