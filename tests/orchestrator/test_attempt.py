"""What goes wrong in a run becomes a fact and a sentence."""

import errno
from dataclasses import replace

import pytest

from orchestrator.attempt import Attempt
from orchestrator.events import Delegated, FilesTouched, ToolFinished, ToolStarted, Turn
from orchestrator.journal import Journal
from orchestrator.outcome import Finding, Outcome, Verdict, judge_run, worst
from orchestrator.records import Records
from orchestrator.task import Task
from sandbox.errors import SandboxError, SandboxLostError


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


def test_the_lines_below_a_sentence_are_no_part_of_it():
    attempt = Attempt(held=None, journal=None, watch=None)
    with attempt.gathering():
        raise SandboxError("The service db ended.\n  It said:\n    oh")
    assert (attempt.error, attempt.below) == ("The service db ended.", "\n  It said:\n    oh")


FORBIDDEN = Finding("protected.ci", Verdict.BLOCK, "ci.yml", "CI runs it", None)


@pytest.mark.parametrize(
    ("findings", "message"),
    [
        ((), "The service db ended.\n  It said:\n    oh"),
        ((FORBIDDEN,), "ci.yml: CI runs it"),
    ],
)
def test_what_a_service_said_is_told_only_below_its_sentence(tmp_path, findings, message):
    records = Records(tmp_path)
    place = {"git_dir": tmp_path, "base": "a" * 40, "base_tree": "b" * 40}
    with (
        records.begin(Task(repository="/r", prompt="p"), repository="/r", **place) as held,
        Journal(tmp_path / "journal.jsonl") as journal,
    ):
        attempt = Attempt(held=held, journal=journal, watch=lambda event: None)
        with attempt.gathering():
            raise SandboxError("The service db ended.\n  It said:\n    oh")
        held.update(findings=findings)
        attempt.facts = replace(attempt.facts, verdict=worst(findings))
        assert attempt.finish(1.0).message == message


def test_an_error_nobody_expects_is_raised():
    attempt = Attempt(held=None, journal=None, watch=None)
    with pytest.raises(OSError, match="too many links"), attempt.gathering():
        raise OSError(errno.EMLINK, "too many links")


def started(call, tool, delegate="", arguments="{}"):
    return ToolStarted(step=3, call=call, tool=tool, arguments=arguments, delegate=delegate)


@pytest.fixture
def attempt(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield Attempt(held=None, journal=journal, watch=lambda event: None)


ENDED = Delegated(delegate="claude", step=3, reason="complete")
RESULT = ToolFinished(step=3, call="1", tool="Write", result="", delegate="claude")


@pytest.mark.parametrize(
    ("since", "touched"),
    [
        ([], FilesTouched(step=3, tool="Write", call="1", delegate="claude")),
        ([RESULT], FilesTouched(step=3, tool="delegate", call="1")),
        ([ENDED], FilesTouched(step=3, tool="delegate", call="1")),
    ],
)
def test_what_still_differs_is_the_doing_of_the_innermost_call(attempt, since, touched):
    attempt.tell_all([started("1", "delegate"), started("1", "Write", "claude"), *since])
    assert attempt.last_touch() == touched


def test_a_change_is_about_the_call_of_whoever_made_it(attempt):
    attempt.tell(started("1", "delegate", arguments='{"worker": "claude"}'))
    attempt.tell(started("1", "Write", "claude", '{"path": "a.py"}'))
    assert attempt.subject(FilesTouched(step=3, tool="Write", call="1", delegate="claude")) == (
        "Write: a.py"
    )
    assert attempt.subject(FilesTouched(step=3, tool="delegate", call="1")) == "delegate"


def test_what_a_delegate_uses_counts_and_each_has_its_model(attempt):
    used = {"step": 1, "text": "", "input_tokens": 10, "output_tokens": 1, "cost": 0.5}
    attempt.tell_all([Turn(model="a:b", **used), Turn(model="c:d", delegate="claude", **used)])
    assert (attempt.totals.turns, attempt.totals.cost) == (2, 1.0)
    assert attempt.models == {"": "a:b", "claude": "c:d"}
