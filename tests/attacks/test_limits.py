"""Work that takes more of the machine than it was given: each limit ends it by its own name."""

import time

import pytest

from orchestrator.agent.loop import Agent
from orchestrator.events import ToolFinished
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.task import Task
from sandbox import BASE_IMAGE, Limits, disk, open_box, probe
from sandbox.disk import Room
from sandbox.errors import DiskFullError, SandboxLostError

SMALL = Limits(disk=64 << 20, memory=256 << 20, tmp_size=16 << 20, file_size=64 << 20, pids=200)
FORKS = "bomb() { bomb | bomb & bomb; }; bomb"
HOG = "python3 -c 'x = bytearray(1 << 30)'"


@pytest.fixture(scope="module")
def small(engine, image):
    """A box with little of everything, for attacks that it survives."""
    with open_box(engine, image, SMALL, run="test", purpose="work") as box:
        yield box


def test_c02_files_are_recorded_when_all_processes_are_taken(make_box, source, tmp_path):
    box = make_box(Limits(pids=40))
    box.run(["sh", "-c", "echo kept >kept; while sleep 99 & do :; done"], seconds=5)
    assert box.snapshot(source.tree, tmp_path / "pack").pack is not None
    assert box.run(["echo", "fine"]).stdout == b"fine\n"


def results(box, tmp_path, command, after, seconds=60):
    """What a model is told of two commands that it runs one after the other."""
    given = ({"command": command, "seconds": seconds}, {"command": after, "seconds": 60})
    steps = (Step(calls=(Call("bash", each),)) for each in given)
    model = ScriptedModel(Script((*steps, Step(text="Done."))))
    events = list(Agent(model, tmp_path).work(Task(repository="", prompt="Go."), box))
    return [event.result for event in events if isinstance(event, ToolFinished)]


def test_c02_a_fork_bomb_ends_at_its_time_and_the_next_step_works(small, tmp_path):
    bomb, after = results(small, tmp_path, FORKS, "echo fine", seconds=2)
    assert "[time limit: ended after" in bomb
    assert after.startswith("fine\n[exit status 0")
    assert small.lost() is None


def test_c03_a_memory_hog_is_told_so_and_the_next_step_works(small, tmp_path):
    hog, after = results(small, tmp_path, HOG, "echo fine")
    assert "[exit status 137: out of memory (limit 256m)" in hog
    assert after.startswith("fine\n[exit status 0")


def test_c03_who_kills_itself_is_not_out_of_memory(small):
    small.run(["sh", "-c", HOG])
    assert not small.run(["sh", "-c", "kill -9 $$"]).exit.out_of_memory


def test_c03_a_killed_child_of_a_shell_counts(small):
    assert small.run(["bash", "-c", f"{HOG}; exit $?"]).exit.out_of_memory


def test_c05_endless_output_ends_at_its_time(small, tmp_path):
    flood, after = results(small, tmp_path, "yes $(seq 99 | tr -d '\\n')", "echo fine", seconds=2)
    assert "[time limit: ended after" in flood
    assert after.startswith("fine\n")


def test_c09_who_ignores_sigterm_ends_all_the_same(small):
    began = time.monotonic()
    done = small.run(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], seconds=1)
    assert (done.exit.timed_out, time.monotonic() - began < 6) == (True, True)


def test_a_file_that_grows_too_large_is_named(small, tmp_path):
    grown, after = results(small, tmp_path, "head -c 70000000 /dev/zero > /home/agent/f", "rm ~/f")
    assert "[exit status 153: a file became too large (limit 64m)" in grown
    assert "[exit status 0" in after


def test_a_full_tmp_fails_the_command_alone(small):
    done = small.run(["sh", "-c", "head -c 32000000 /dev/zero > /tmp/f; rm /tmp/f"])
    assert b"No space left on device" in done.stderr
    assert small.lost() is None


LARGE = "for n in $(seq 100); do head -c 10000000 /dev/zero > $n; done"
MANY = "seq 1000000 | split -l 1 -a 5"


@pytest.mark.parametrize(
    ("where", "fill", "size"),
    [
        ("/workspace", LARGE, 64 << 20),
        ("/home/agent", LARGE, 64 << 20),
        ("/workspace", MANY, 1 << 16),
    ],
)
def test_a_disk_hog_is_ended_within_seconds_by_the_watch(make_box, monkeypatch, where, fill, size):
    monkeypatch.setattr(disk, "has_quota", lambda engine: False)
    box = make_box(Limits(disk=size))
    began = time.monotonic()
    with pytest.raises(SandboxLostError, match="disk limit") as error:
        box.run(["sh", "-c", f"cd {where} && {fill}; sleep 60"])
    assert (error.value.limit, box.lost().limit) == ("disk", "disk")
    assert time.monotonic() - began < 60


def filled(box, source, pack):
    """Fill the disk of a sandbox and record it, whatever becomes of that."""
    done = box.run(["sh", "-ec", f"{LARGE}; sleep 60"])
    assert b"No space left on device" in done.stderr
    box.snapshot(source.tree, pack)


def test_a_full_disk_is_told_by_a_quota_where_there_is_one_else_by_the_watch(
    engine, make_box, source, tmp_path
):
    quota = probe.unlimited_disk(engine, BASE_IMAGE) is None
    with pytest.raises(DiskFullError if quota else SandboxLostError) as error:
        filled(make_box(Limits(disk=64 << 20)), source, tmp_path / "pack")
    assert "`disk` under [sandbox] (it is 64m)" in str(error.value)


@pytest.mark.parametrize("spare", [Room(1 << 60, 0), Room(0, 1 << 60)])
def test_a_sandbox_is_ended_before_the_machine_has_no_room_left(make_box, monkeypatch, spare):
    monkeypatch.setattr(Room, "spare", lambda free: spare)
    with pytest.raises(SandboxLostError, match="nearly full") as error:
        make_box().run(["sleep", "30"])
    assert error.value.limit == "disk"
