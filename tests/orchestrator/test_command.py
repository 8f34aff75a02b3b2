"""The deterministic fixer tells what it printed, what it touched and how it ended."""

import pytest

from orchestrator.command import Command
from orchestrator.events import FilesTouched, Output, ToolFinished, ToolStarted, WorkerFinished
from orchestrator.task import Limits, Task
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace


def work(workspace, tmp_path, *command, seconds=60.0):
    task = Task(
        repository="", prompt="", worker="command", command=command, limits=Limits(seconds=seconds)
    )
    return list(Command(tmp_path).work(task, workspace.box))


def test_tells_all_in_order(workspace, tmp_path):
    events = work(workspace, tmp_path, "sh", "-c", "echo out; echo x > fixed")
    (finished,) = (event for event in events if isinstance(event, ToolFinished))
    assert finished.result.startswith("out\n[exit status 0, ")
    assert [event for event in events if event is not finished] == [
        ToolStarted(
            step=1,
            call="command",
            tool="command",
            arguments='["sh", "-c", "echo out; echo x > fixed"]',
        ),
        Output(stream="stdout", text="out"),
        FilesTouched(step=1, tool="command", call="command"),
        WorkerFinished(reason="complete", message="sh ended with exit status 0"),
    ]
    assert workspace.tree() == {"fixed": b"x\n"}


def test_a_failure_is_told_after_what_it_changed(workspace, tmp_path):
    events = work(workspace, tmp_path, "sh", "-c", "echo x > fixed; exit 1")
    assert events[-2:] == [
        FilesTouched(step=1, tool="command", call="command"),
        WorkerFinished(
            reason="failed",
            message="sh ended with exit status 1. "
            "If that status is no failure, let the command end with 0.",
        ),
    ]


def test_a_missing_program_is_named(workspace, tmp_path):
    events = work(workspace, tmp_path, "no-such-fixer")
    assert events[-1] == WorkerFinished(
        reason="failed",
        message="no-such-fixer could not be started in the sandbox; "
        "is it in the image, or in set-up?",
    )


def test_a_command_that_takes_too_long_is_ended(workspace, tmp_path):
    events = work(workspace, tmp_path, "sleep", "60", seconds=1.0)
    assert events[-1] == WorkerFinished(reason="time", message="sleep ran out of time")


def test_the_whole_output_is_kept(workspace, tmp_path):
    work(workspace, tmp_path, "seq", "20000")
    whole = "".join(f"{number}\n" for number in range(1, 20001))
    assert (tmp_path / "command.txt").read_text() == whole


@pytest.mark.parametrize("argument", ["$HOME", "a b", "*", ";"])
def test_no_shell_reads_the_arguments(workspace, tmp_path, argument):
    events = work(workspace, tmp_path, "echo", argument)
    assert Output(stream="stdout", text=argument) in events
