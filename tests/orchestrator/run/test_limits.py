"""Runs that reach a limit of their sandbox, and runs with its files in memory."""

import time

from orchestrator import prompts
from orchestrator.events import Changed, Crashed, Prepared, ToolFinished
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
    assert (ran.told(Crashed), "disk limit" in ran.record.message) == ([], True)
    said = ran.told(ToolFinished)[-1].result
    assert said == prompts.OVER.format(ran.record.message.removesuffix("; 1 commit"))


SLEEP = Step(calls=(Call("bash", {"command": "echo b > b.txt; sleep 600"}),))


def test_the_containers_own_deadline_ends_the_run_and_keeps_what_was_recorded(desk):
    model = ScriptedModel(Script((WRITE, SLEEP, Step(text="Never said."))))
    began = time.monotonic()
    ran = desk.run(model=model, alive=6.0)
    assert (ran.record.outcome, ran.record.outcome.exit_code) == (Outcome.TIME, 124)
    assert (ran.record.turns, ran.told(Crashed)) == (2, [])
    assert (ran.subjects, "time limit" in ran.record.message) == (["write_file: a.txt"], True)
    assert ran.git("show", f"{ran.record.branch}:a.txt") == "a"
    assert ran.record.tree == ran.told(Changed)[0].tree
    assert time.monotonic() - began < 60  # the run's own limit is an hour, the command's minutes
    assert containers(ran.record.id) == []


def test_a_deadline_that_comes_between_two_steps_asks_no_model_again(desk, engine):
    def wait_for_it(event):
        if isinstance(event, Changed):
            (run,) = (path.name for path in desk.home.glob("runs/2*"))
            for name in containers(run):
                engine.client.api.wait(name, timeout=30)

    model = ScriptedModel(Script((WRITE, Step(text="Never said."))))
    ran = desk.run(model=model, alive=4.0, watch=wait_for_it)
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
