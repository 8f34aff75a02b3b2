"""Runs that reach a limit of their sandbox, and runs with its files in memory."""

import pytest

from orchestrator import prompts
from orchestrator.events import Changed, CheckFinished, Crashed, Prepared, ToolFinished
from orchestrator.machine import SandboxSettings
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.outcome import Outcome
from orchestrator.settings import Settings
from sandbox import disk
from tests.orchestrator.run.conftest import containers

WRITE = Step(calls=(Call("write_file", {"path": "a.txt", "content": "a\n"}),))
FILL = "cd ~ && for n in $(seq 100); do head -c 10000000 /dev/zero > $n; done; sleep 60"
HOG = "python3 -c 'x = bytearray(1 << 30)'"
SETUP = ("mkdir -p egg && echo x > egg/PKG && chmod 0555 egg && touch ~/cache",)


def test_a_sandbox_ended_by_the_watch_keeps_what_was_recorded_and_asks_no_model_again(
    desk, monkeypatch
):
    monkeypatch.setattr(disk, "has_quota", lambda engine: False)
    steps = (WRITE, Step(calls=(Call("bash", {"command": FILL}),)), Step(text="Never said."))
    model = ScriptedModel(Script(steps))
    ran = desk.run(model=model, stated=Settings(sandbox=SandboxSettings(disk="64m")))
    assert (ran.record.outcome, ran.record.turns) == (Outcome.DISK_FULL, 2)
    assert ran.record.outcome.exit_code == 1
    assert ran.subjects == ["write_file: a.txt"]
    assert (ran.told(Crashed), "[sandbox] (it is 64m)" in ran.record.message) == ([], True)
    said = ran.told(ToolFinished)[-1].result
    assert said == prompts.OVER.format(ran.record.message.removesuffix("; 1 commit"))


QUICK_FILL = "head -c 100000000 /dev/zero > ~/x"


@pytest.fixture
def unwatched(monkeypatch):
    """A watch that does not look by itself in time, but whenever it is asked to."""
    monkeypatch.setattr(disk, "INTERVAL", 600.0)
    monkeypatch.setattr(disk, "QUICK", 600.0)


@pytest.fixture
def no_quota(monkeypatch, unwatched):
    """Neither a quota."""
    monkeypatch.setattr(disk, "has_quota", lambda engine: False)


def bash(desk, *commands, **sandbox):
    """A run whose model asks for these commands, one a turn, and then would say something."""
    calls = (Step(calls=(Call("bash", {"command": command}),)) for command in commands)
    model = ScriptedModel(Script((*calls, Step(text="Said."))))
    return desk.run(model=model, stated=Settings(sandbox=SandboxSettings(**sandbox)))


def test_a_command_that_fills_the_disk_and_ends_asks_no_model_again(desk, unwatched):
    # The second snapshot needs no room: a quota that is used up does not break it.
    ran = bash(desk, "true", QUICK_FILL, disk="64m")
    assert (ran.record.outcome, ran.record.turns) == (Outcome.DISK_FULL, 2)
    assert "`disk` under" in ran.record.message


def test_what_a_command_changed_that_wrote_too_much_is_recorded(desk, no_quota):
    ran = bash(desk, f"echo a > a.txt; {QUICK_FILL}", disk="64m")
    assert ran.record.outcome is Outcome.DISK_FULL
    assert (len(ran.subjects), "disk limit" in ran.record.message) == (1, True)
    assert ran.git("show", f"{ran.record.branch}:a.txt") == "a"
    assert "exit status 0" in ran.told(ToolFinished)[-1].result


def test_files_that_fill_the_memory_for_them_end_the_run_likewise(desk, unwatched):
    fill = "echo a > a.txt; head -c 200000000 /dev/zero > x.log"
    ran = bash(desk, fill, workspace="memory", memory="256m")
    assert (ran.record.outcome, ran.record.turns) == (Outcome.DISK_FULL, 1)
    told = "`memory` under [sandbox] (it is 256m, of which half is for /workspace)"
    assert (len(ran.subjects), told in ran.record.message) == (1, True)
    assert "No space left on device" in ran.told(ToolFinished)[-1].result


def test_what_is_removed_before_the_command_ends_does_not_count(desk, unwatched):
    passing = f"{QUICK_FILL}; rm ~/x"
    ran = bash(desk, passing, passing, disk="64m")
    assert (ran.record.outcome, ran.record.turns) == (Outcome.NO_CHANGE, 3)


def test_a_fixer_that_fills_the_disk_ends_so_even_when_it_is_content(desk, no_quota):
    stated = Settings(sandbox=SandboxSettings(disk="64m"))
    ran = desk.run(f"echo more >> README.md; {QUICK_FILL}", stated=stated)
    assert ran.record.outcome is Outcome.DISK_FULL
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\nmore"


def test_a_check_at_the_gate_that_fills_the_disk_asks_no_model_again(desk, unwatched):
    model = ScriptedModel(Script((WRITE, Step(text="Done."), Step(text="Never said."))))
    check = f"test ! -e a.txt || {{ {QUICK_FILL}; false; }}"
    stated = Settings(sandbox=SandboxSettings(disk="64m"))
    ran = desk.run(model=model, checks=(check,), stated=stated)
    assert (ran.record.outcome, ran.record.turns) == (Outcome.DISK_FULL, 2)


@pytest.mark.parametrize("when", ["true", "grep -q more README.md"], ids=["base", "proof"])
def test_a_check_that_writes_too_much_is_no_proof_even_when_it_passes(desk, no_quota, when):
    stated = Settings(sandbox=SandboxSettings(disk="64m"))
    checks = (f"! {when} || {QUICK_FILL}",)
    ran = desk.run("echo more >> README.md", checks=checks, stated=stated)
    assert (ran.record.outcome, ran.told(CheckFinished)[-1].passed) == (Outcome.DISK_FULL, True)
    assert len(ran.told(Changed)) == (0 if when == "true" else 1)


def test_so_it_is_where_its_files_are_counted_slowly(desk, no_quota, monkeypatch):
    monkeypatch.setattr(disk, "QUICK", 0.0)
    stated = Settings(sandbox=SandboxSettings(disk="64m"))
    ran = desk.run("echo more >> README.md", checks=(QUICK_FILL,), stated=stated)
    assert (ran.record.outcome, ran.told(CheckFinished)[-1].passed) == (Outcome.DISK_FULL, True)


SLEEP = Step(calls=(Call("bash", {"command": "echo b > b.txt; sleep 600"}),))


def outlived(desk, *steps, alive, watch=lambda event: None):
    """A run whose containers end themselves in its last step, however slow the machine is."""
    for seconds in (alive, 5 * alive, 25 * alive):
        model = ScriptedModel(Script((*steps, Step(text="Never said."))))
        ran = desk.run(model=model, alive=seconds, watch=watch)
        if ran.told(Changed) and ran.record.turns == len(steps):
            break
    return ran


def test_the_containers_own_deadline_ends_the_run_and_keeps_what_was_recorded(desk):
    ran = outlived(desk, WRITE, SLEEP, alive=6.0)
    assert (ran.record.outcome, ran.record.outcome.exit_code) == (Outcome.TIME, 124)
    assert (ran.record.turns, ran.told(Crashed)) == (2, [])
    assert (ran.subjects, "time limit" in ran.record.message) == (["write_file: a.txt"], True)
    assert ran.git("show", f"{ran.record.branch}:a.txt") == "a"
    assert ran.record.tree == ran.told(Changed)[0].tree
    assert containers(ran.record.id) == []


def test_a_deadline_that_comes_between_two_steps_asks_no_model_again(desk, engine):
    def wait_for_it(event):
        if isinstance(event, Changed):
            run = max(path.name for path in desk.home.glob("runs/2*"))
            for name in containers(run):
                engine.client.api.wait(name, timeout=120)

    ran = outlived(desk, WRITE, alive=4.0, watch=wait_for_it)
    assert (ran.record.outcome, ran.record.turns) == (Outcome.TIME, 1)
    assert (ran.subjects, ran.told(Crashed)) == (["write_file: a.txt"], [])


def test_a_fixer_whose_container_is_over_ends_by_time_too(desk):
    ran = desk.run("echo more >> README.md; sleep 600", alive=4.0)
    assert (ran.record.outcome, ran.record.outcome.exit_code) == (Outcome.TIME, 124)
    assert (ran.record.branch, ran.told(Changed)) == ("", [])
    assert "time limit" in ran.record.message


def test_a_fixer_without_enough_memory_says_so(desk):
    ran = desk.run(
        f"echo more >> README.md; {HOG}", stated=Settings(sandbox=SandboxSettings(memory="128m"))
    )
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert "out of memory (limit 128m)" in ran.record.message
    (finished,) = ran.told(ToolFinished)
    assert "[exit status 137: out of memory (limit 128m)" in finished.result
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\nmore"


def test_a_check_without_enough_memory_says_so(desk):
    stated = Settings(sandbox=SandboxSettings(memory="128m"))
    ran = desk.run("echo more >> README.md", checks=(HOG,), stated=stated)
    assert ran.record.outcome is Outcome.CHECKS_FAILED
    assert "(137: out of memory (limit 128m))" in ran.record.message


def test_files_in_memory_end_as_the_same_tree(desk):
    script = (
        "test $(df -T /workspace | grep -c tmpfs) = $IN_MEMORY; test -e egg/PKG; test -e ~/cache;"
        "git status --porcelain | grep -v egg && exit 1;"
        "echo more >> README.md; mkdir new; echo x > new/f; rm src/app.py; echo y > src/b.py"
    )
    trees = set()
    for number, place in enumerate(("disk", "memory")):
        text = script.replace("$IN_MEMORY", str(number))
        ran = desk.run(text, setup=SETUP, stated=Settings(sandbox=SandboxSettings(workspace=place)))
        assert (ran.record.outcome, ran.told(Prepared)[0].left) == (Outcome.DONE, ("egg/PKG",))
        trees.add(ran.record.tree)
    assert len(trees) == 1
