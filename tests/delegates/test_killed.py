"""`kill -9` of the orchestrator while a program works loses at most what it is doing."""

import pytest

from tests.attacks.test_crash import killed as killed
from tests.attacks.test_crash import nothing_is_left


@pytest.mark.parametrize("step", ["session", "changed"])
def test_a_killed_run_is_interrupted_keeps_its_changes_and_leaves_nothing(
    engine, killed, worker, step
):
    there = killed(step, worker)
    owner, run = there.pid, there.record.id
    assert there.record.shown_state == "interrupted"
    shown = there.verbs(["gc"], ["show", run])
    assert "interrupted: Its process was killed." in shown
    assert ("+# more" in there.verbs(["diff", run])) is (step == "changed")
    nothing_is_left(engine, there, owner)
