"""What goes wrong in a run becomes a fact and a sentence."""

import errno

import pytest

from orchestrator.attempt import Attempt
from orchestrator.outcome import Outcome, judge_run
from sandbox.errors import SandboxLostError


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_fact_and_says_what_to_do(reason):
    attempt = Attempt(held=None, journal=None, watch=None)
    with attempt.gathering():
        raise OSError(reason, "No space left on device", "/h/x")
    assert attempt.facts.sandbox == "disk_full"
    assert attempt.error == "The disk is full at /h/x: free some space and start the run again."


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [(None, Outcome.SANDBOX_LOST), ("time", Outcome.TIME), ("disk", Outcome.DISK_FULL)],
)
def test_a_dead_sandbox_is_a_fact_by_the_limit_it_reached(limit, outcome):
    attempt = Attempt(held=None, journal=None, watch=None)
    with attempt.gathering():
        raise SandboxLostError("It ended.", limit)
    assert (judge_run(attempt.facts), attempt.error) == (outcome, "It ended.")


def test_an_error_nobody_expects_is_raised():
    attempt = Attempt(held=None, journal=None, watch=None)
    with pytest.raises(OSError, match="too many links"), attempt.gathering():
        raise OSError(errno.EMLINK, "too many links")
