"""X01: `kill -9` at each step of a run loses at most that step, and the next start leaves nothing.

Each run really kills itself there: see tests/killed_run.py.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.records import Records
from orchestrator.repository import Repository
from sandbox import scratch
from sandbox.owner import MAKER
from tests.conftest import git, tiny_repository

ROOT = Path(__file__).parents[2]


@dataclass
class Killed:
    """A repository and a home, after a run that was killed."""

    folder: Path
    pid: int = 0
    """Of the program that was started last."""

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def record(self):
        (record,) = Records(self.home).all()
        return record

    def start(self, *program: str, status: int = 0) -> str:
        """Start a program of ours with nothing of this test's but its folders."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        env |= {name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ}
        env |= {"ORCHESTRATOR_HOME": str(self.home), "TMPDIR": str(self.folder / "tmp")}
        process = subprocess.Popen(
            [sys.executable, *program],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate()
        assert process.returncode == status, err.decode()
        self.pid = process.pid
        return out.decode()

    def verbs(self, *lines: list[str]) -> list[str]:
        """What command lines of ours print, carried out in one process."""
        program = "import sys; from orchestrator.cli.main import call"
        calls = "; ".join(
            f"assert call({['-C', str(self.repository), *line]!r}) == 0" for line in lines
        )
        return self.start("-c", f"{program}; {calls}").splitlines()

    def branches(self) -> list[str]:
        found = git(self.repository, "for-each-ref", "--format=%(refname)", "refs")
        return [name for name in found.decode().split() if name != "refs/heads/main"]


@pytest.fixture
def killed(tmp_path: Path):
    tiny_repository(tmp_path / "repository")

    def at(step: str, *worker: str) -> Killed:
        there = Killed(tmp_path)
        there.start(
            *("-m", "tests.killed_run", str(there.repository), str(there.home), step, *worker),
            status=-9,
        )
        return there

    return at


UNRECORDED = ("run_started", "setup output", "base output", "admit")
RECORDED = ("changed", "judged", "proof output", "import", "branch")
PUBLISHED = ("delivered", "record finished")


@pytest.mark.parametrize("step", [*UNRECORDED, *RECORDED, *PUBLISHED])
def test_x01_a_killed_run_is_interrupted_and_the_next_start_cleans(engine, killed, step):
    there = killed(step)
    owner = there.pid
    run, published = there.record.id, step in PUBLISHED
    assert there.record.shown_state == "interrupted"
    before = there.verbs(["list"], ["show", run], ["gc"])
    after = there.verbs(["list"], ["show", run])
    assert [line.split()[3] for line in (before[1], after[1])] == ["interrupted"] * 2
    assert "interrupted: Its process was killed." in after
    assert there.record.state == "interrupted"
    assert there.branches() == [f"refs/heads/agent/{run}"] * published
    assert ("+# more" in there.verbs(["diff", run])) is (step not in UNRECORDED)
    nothing_is_left(engine, there, owner)
    git(there.repository, "fsck", "--strict")


def test_x01_a_run_that_is_killed_before_it_is_on_record_never_was(engine, killed):
    there = killed("record running")
    owner = there.pid
    assert Records(there.home).all() == ()
    there.verbs(["gc"])
    nothing_is_left(engine, there, owner)


def _of(engine, owner: int) -> list[str]:
    """What a process made on the engine; others may leave something there meanwhile."""
    api = engine.client.api
    containers = api.containers(all=True, filters={"label": f"host_pid={owner}"})
    unnamed = api.images(filters={"dangling": True, "label": MAKER})
    images = [each for each in unnamed if f"|{owner}|" in each["Labels"][MAKER]]
    return [each["Id"] for each in (*containers, *images)]


def nothing_is_left(engine, there: Killed, owner: int) -> None:
    until = time.monotonic() + 30
    while (left := _of(engine, owner)) and time.monotonic() < until:
        time.sleep(0.1)  # somebody else's sweep may have begun to remove it, and not be done
    assert left == []
    assert os.listdir(there.folder / "tmp") == []
    assert scratch.left(there.home / "packs") == ()
    names = {path.name for path in (there.home / "runs").rglob("*")}
    assert not {name for name in names if name.endswith((".pack.new", "incoming.pack"))}
    assert not {name for name in names if name.startswith(".new-")}


def test_x01_a_finished_record_is_finished_whatever_comes_after(engine, killed):
    there = killed("run_finished")
    owner = there.pid
    assert (there.record.state, there.record.outcome) == ("finished", "done")
    there.verbs(["gc"])
    assert there.record.branch == f"agent/{there.record.id}"
    nothing_is_left(engine, there, owner)


def test_x01_a_branch_that_the_record_does_not_know_can_be_taken_back(killed):
    there = killed("delivered")
    assert there.branches() == [f"refs/heads/agent/{there.record.id}"]
    there.verbs(["gc"])
    there.verbs(["discard", there.record.id])
    assert there.branches() == []


def test_x01_the_next_run_cleans_by_itself(engine, killed):
    there = killed("changed")
    owner = there.pid
    repository = str(there.repository)
    there.start("-m", "tests.killed_run", repository, str(there.home), "nowhere")
    nothing_is_left(engine, there, owner)
    newest = Records(there.home).all()[0]
    assert Repository.open(repository, there.home).branch(newest.branch) == newest.tip
