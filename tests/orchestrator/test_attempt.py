"""What goes wrong in a run becomes a fact and a sentence."""

import errno

import pytest

from orchestrator.attempt import Attempt


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_fact_and_says_what_to_do(reason):
    attempt = Attempt(held=None, journal=None, watch=None)
    with attempt.gathering():
        raise OSError(reason, "No space left on device", "/h/x")
    assert attempt.facts.sandbox == "disk_full"
    assert attempt.error == "The disk is full at /h/x: free some space and start the run again."


def test_an_error_nobody_expects_is_raised():
    attempt = Attempt(held=None, journal=None, watch=None)
    with pytest.raises(OSError, match="too many links"), attempt.gathering():
        raise OSError(errno.EMLINK, "too many links")
