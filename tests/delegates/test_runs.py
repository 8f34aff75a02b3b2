"""What a person gets who gives a task to Claude Code or Codex."""

from functools import cache

import msgspec
import pytest

from orchestrator.events import Changed, Raw, Session, Turn, WorkerFinished
from orchestrator.machine import SandboxSettings
from orchestrator.models.traffic import Replay
from orchestrator.outcome import Outcome
from orchestrator.settings import Settings
from orchestrator.task import Limits
from sandbox import disk
from tests.api.scenario import Call, Expect, Fault, Scenario, Step
from tests.conftest import FILES, tiny_repository
from tests.delegates.conftest import USUAL, Desk

ADD = "sed -i 's/a + b/b + a/' src/app.py"


def shell(worker: str, command: str) -> Call:
    """The call with which this program runs a shell command."""
    if worker == "codex":
        return Call("exec_command", {"cmd": command, "yield_time_ms": 60_000})
    return Call("Bash", {"command": command, "description": "Work"})


def scenario(*steps: Step, rest: Step | None = None) -> Scenario:
    return Scenario(steps, side_answers=True, rest=rest)


def asks(worker: str, command: str, **more: object) -> Step:
    return Step(calls=(shell(worker, command),), **more)


def last(ran) -> WorkerFinished:
    return ran.told(WorkerFinished)[-1]


def test_each_call_that_changes_files_is_a_commit(desk, worker):
    ran = desk.run(
        worker,
        scenario(
            asks(worker, ADD, expect=Expect(said=("mend add",))),
            asks(worker, "ls", fault=Fault(delay=1)),
            asks(
                worker,
                "echo new > 'naïve.txt'; git mv README.md docs.md",
                fault=Fault(delay=1),
            ),
            Step("add is mended."),
        ),
        checks=("grep -q 'b + a' src/app.py",),
    )
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "add is mended.")
    assert len(ran.commits) == len(ran.told(Changed)) == 2
    assert ran.file("src/app.py") == b"def add(a, b):\n    return b + a\n"
    assert (ran.file("naïve.txt"), ran.file("docs.md")) == (b"new\n", b"# Tiny\n")
    assert ran.told(Raw) == []


@pytest.fixture(scope="session")
def mended(tmp_path_factory):
    """A run in which a program mended the sum and ended well: one for each program, to look at."""

    @cache
    def mended(worker):
        folder = tmp_path_factory.mktemp(worker)
        desk = Desk(tiny_repository(folder / "user", FILES), folder / "home")
        return desk.run(worker, scenario(asks(worker, ADD), Step("add is mended.")), turns=2)

    return mended


def test_what_it_costs_is_what_the_gateway_counted(mended, worker):
    ran = mended(worker)
    turns = ran.told(Turn)
    assert (ran.record.turns, ran.record.input_tokens) == (len(turns), 100 * len(turns))
    assert ran.record.cost == pytest.approx(sum(turn.cost for turn in turns))


def test_the_key_is_in_no_file_of_the_run(desk, worker):
    ran = desk.run(worker, scenario(asks(worker, "env; cat /proc/*/environ"), Step("Done.")))
    assert ran.asked[0].key == ran.key
    files = [path for path in ran.folder.rglob("*") if path.is_file()]
    assert any(b"Done." in path.read_bytes() for path in files)
    assert [path for path in files if ran.key.encode() in path.read_bytes()] == []


def test_a_replay_needs_no_model_and_ends_in_the_same_tree(desk, worker, mended):
    ran = mended(worker)
    again = desk.run(worker, Scenario(()), traffic=Replay(ran.folder / "cassette"))
    assert (again.record.tree, again.asked) == (ran.record.tree, [])


def test_the_session_is_told(mended, worker):
    told = mended(worker).told(Session)
    assert [session.program.split()[0] for session in told] == [worker]


def test_a_command_without_end_is_a_turn_that_took_too_long(desk, worker):
    stated = Settings(limits=Limits(turn_seconds=8))
    endless = asks(worker, "while sleep 0.2; do echo more; done")
    # On a busy machine the time may be over before it asks for anything.
    ran = desk.run(worker, scenario(rest=endless), stated=stated)
    assert ran.record.outcome is Outcome.STALLED


def test_a_command_that_fills_the_disk_ends_the_work_within_one_answer(desk, worker, monkeypatch):
    monkeypatch.setattr(disk, "has_quota", lambda engine: False)
    monkeypatch.setattr(disk, "INTERVAL", 600.0)
    fill = asks(worker, "echo a > a.txt; head -c 600000000 /dev/zero > ~/x")
    stated = msgspec.structs.replace(USUAL, sandbox=SandboxSettings(disk="512m"))
    ran = desk.run(worker, scenario(fill, rest=asks(worker, "ls")), stated=stated)
    assert (ran.record.outcome, ran.file("a.txt")) == (Outcome.DISK_FULL, b"a\n")
    assert len(ran.told(Turn)) <= 2  # its next question may be on its way by then


def test_an_answer_that_ends_the_work_may_be_the_last_one_allowed(mended, worker):
    record = mended(worker).record
    assert (record.outcome, record.turns, record.task.limits.turns) == (Outcome.DONE, 2, 2)
