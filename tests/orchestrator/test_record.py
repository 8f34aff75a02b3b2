"""Records are whole or absent, found by what a person types, and true about who is alive."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import RecordError
from orchestrator.outcome import Finding, Outcome, Verdict
from orchestrator.record import Approval, Damaged, Owner
from orchestrator.records import Records
from orchestrator.task import Task

TASK = Task(repository="ignored", prompt="mend it", checks=("make test",))
BASE = {"git_dir": Path("/r/.git"), "base": "a" * 40, "base_tree": "b" * 40}


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path)


def begin(records: Records):
    return records.begin(TASK, repository="/r", **BASE)


def finish(records: Records) -> str:
    with begin(records) as held:
        held.update(state="finished", outcome=Outcome.DONE)
    return held.record.id


def test_a_record_comes_back_as_it_was_written(records):
    with begin(records) as held:
        written = held.update(
            state="finished",
            outcome=Outcome.NEEDS_REVIEW,
            verdict=Verdict.REVIEW,
            findings=(Finding("shape.binary", Verdict.REVIEW, "a.bin", "binary", None),),
            tree="c" * 40,
            approvals=(Approval("c" * 40, "Ada", 1.5),),
            cost=0.25,
        )
    assert records.load(written.id) == written
    assert written.task == replace(TASK, repository="/r")
    assert written.approved


def test_an_approval_is_for_one_tree_only(records):
    with begin(records) as held:
        record = held.update(tree="d" * 40, approvals=(Approval("c" * 40, "Ada", 1.5),))
    assert not record.approved


def test_reading_creates_nothing(tmp_path):
    assert Records(tmp_path / "home").all() == ()
    assert not (tmp_path / "home").exists()


def test_a_run_that_works_is_running(records):
    with begin(records) as held:
        assert records.load(held.record.id).shown_state == "running"


def test_an_exception_leaves_the_run_interrupted(records):
    with pytest.raises(ValueError, match="the roof is on fire"), begin(records) as held:
        raise ValueError("the roof is on fire")
    record = records.load(held.record.id)
    assert (record.state, record.message) == ("interrupted", "the roof is on fire")


def test_a_killed_run_shows_as_interrupted(records, tmp_path):
    child = _begin_in_a_child(tmp_path)
    (running,) = records.all()
    assert running.shown_state == "running"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    (killed,) = records.all()
    assert (killed.state, killed.shown_state) == ("running", "interrupted")


def test_a_process_with_the_same_number_is_not_the_owner():
    here = Owner.of_this_process()
    assert here.lives
    assert not Owner(here.pid, here.boot, "1").lives
    assert not Owner(here.pid, "another boot", here.started).lives


def test_a_held_run_cannot_be_held_again(records):
    with begin(records) as held, pytest.raises(RecordError, match="is in use"):  # noqa: SIM117
        with records.hold(held.record.id):
            pass


def test_a_held_run_cannot_be_removed(records):
    with begin(records) as held, pytest.raises(RecordError, match="is in use"):
        records.remove(held.record.id)


def test_a_killed_run_can_be_held(records, tmp_path):
    child = _begin_in_a_child(tmp_path)
    child.kill()
    child.communicate()
    (killed,) = records.all()
    with records.hold(killed.id) as held:
        held.update(state="interrupted")
    assert records.load(killed.id).state == "interrupted"


def test_a_program_started_by_a_run_does_not_keep_its_lock(records):
    with begin(records) as held:
        sleeper = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with records.hold(held.record.id):
            pass
    finally:
        sleeper.kill()
        sleeper.wait()


def test_the_newest_run_comes_first(records):
    runs = sorted(finish(records) for _ in range(3))
    assert [record.id for record in records.all()] == runs[::-1]


def test_a_damaged_record_is_listed_and_spoils_no_other(records):
    good, bad = finish(records), finish(records)
    records.folder(bad).record.write_bytes(b'{"id": "x"')
    damaged = next(record for record in records.all() if record.id == bad)
    assert damaged == Damaged(id=bad, reason="Input data was truncated")
    assert records.find(good).id == good
    with pytest.raises(RecordError, match="cannot be read"):
        records.find(bad)


def test_a_run_is_found_by_either_end_of_its_id(records):
    run = finish(records)
    assert records.find(run[:11]).id == run
    assert records.find(run[-5:-2]).id == run


def test_a_start_that_fits_several_runs_names_them(records):
    runs = {finish(records), finish(records)}
    with pytest.raises(RecordError, match="fits 2 runs") as caught:
        records.find("2")
    assert all(run in str(caught.value) for run in runs)


@pytest.mark.parametrize("start", ["zzz", "", "..", "/"])
def test_an_unknown_run_is_said_so(records, start):
    finish(records)
    with pytest.raises(RecordError, match="There is no run"):
        records.find(start)


def test_a_full_disk_keeps_the_old_record(records):
    with begin(records) as held:
        before = held.record
        with _no_room(), pytest.raises(OSError, match="File too large"):
            held.update(message="new")
        assert records.load(before.id) == before == held.record
        assert sorted(os.listdir(held.folder.path)) == ["lock", "run.json"]


def test_a_run_that_cannot_be_recorded_leaves_nothing(records, tmp_path):
    with _no_room(), pytest.raises(OSError, match="File too large"), begin(records):
        pass
    assert os.listdir(tmp_path / "runs") == [".lock"]


def test_what_an_unborn_run_left_is_removed(records, tmp_path):
    run = finish(records)
    (tmp_path / "runs" / ".new-20200101-000000-aaaaa").mkdir()
    assert records.remove_unborn() == 1
    assert [record.id for record in records.all()] == [run]


@contextmanager
def _no_room():
    """Every write to a file fails, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _begin_in_a_child(home: Path) -> "subprocess.Popen[bytes]":
    program = (
        "import sys; from pathlib import Path; from orchestrator.records import Records\n"
        "from orchestrator.task import Task\n"
        "with Records(Path(sys.argv[1])).begin(Task('r', 'p'), repository='r',\n"
        "        git_dir=Path('g'), base='a', base_tree='b'):\n"
        "    print('begun', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"begun\n"
    return child
