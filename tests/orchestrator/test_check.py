"""A check tells what it prints and how it ends."""

import msgspec

from orchestrator.check import check
from orchestrator.events import CheckFinished, Output, StageStarted
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace


def ran(workspace, command, seconds=60.0):
    begun, *outputs, event = check(workspace.box, command, "base", seconds=seconds, evidence=True)
    assert begun == StageStarted(stage="base", command=command)
    return [*outputs, msgspec.structs.replace(event, seconds=0.0)]


def finished(command, passed, status, tail=""):
    return CheckFinished(
        command=command, stage="base", passed=passed, status=status, seconds=0.0, tail=tail
    )


def test_tells_its_output_and_its_end(workspace):
    assert ran(workspace, "echo no; exit 3") == [
        Output(stream="stdout", text="no", stage="base"),
        finished("echo no; exit 3", False, 3, "no"),
    ]


def test_output_keeps_its_order(workspace):
    command = "for n in $(seq 40); do echo $n; echo $n >&2; done; false"
    kept = "\n".join(f"{n}\n{n}" for n in range(1, 41))
    assert ran(workspace, command)[-1] == finished(command, False, 1, kept)


def test_passes_with_status_0(workspace):
    assert ran(workspace, "true") == [finished("true", True, 0)]


def test_one_that_takes_too_long_fails(workspace):
    assert ran(workspace, "sleep 60", seconds=1.0) == [finished("sleep 60", False, 124)]


def test_only_the_last_lines_are_kept(workspace):
    assert ran(workspace, "seq 1000")[-1].tail == "\n".join(str(n) for n in range(901, 1001))
