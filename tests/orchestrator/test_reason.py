"""Why a run ended as it did is said from facts."""

import pytest

from orchestrator.events import CheckFinished
from orchestrator.evidence import Evidence
from orchestrator.outcome import Facts, Finding, Outcome, Verdict
from orchestrator.reason import Ending, reason
from orchestrator.task import Limits

FOUND = (
    Finding("protected.ci", Verdict.BLOCK, ".github/ci.yml", "CI runs it"),
    Finding("shape.binary", Verdict.REVIEW, "logo.png", "is binary"),
    Finding("secrets.aws", Verdict.BLOCK, "a.py", "holds a key", 3),
)


def evidence(passed: bool) -> Evidence:
    status = 0 if passed else 2
    check = CheckFinished(
        command="make test", stage="proof", passed=passed, status=status, seconds=1.0
    )
    return Evidence("d" * 40, "image", (check,))


def ending(outcome: Outcome, **changes) -> Ending:
    facts = Facts(**{"stop": "complete", "rehash_equal": True} | changes.pop("facts", {}))
    known = {"commits": 2, "findings": (), "evidence": (), "said": "All is well!", "error": ""}
    return Ending(outcome=outcome, facts=facts, limits=Limits(seconds=3.0), **(known | changes))


GREEN = {"facts": {"proof": "passed"}, "evidence": (evidence(True),)}
RED = {"facts": {"proof": "failed"}, "evidence": (evidence(False),)}
REASONS = {
    "done": (ending(Outcome.DONE, **GREEN), "2 commits, 1 check passed in a fresh container"),
    "unchecked": (ending(Outcome.DONE, commits=1), "1 commit, no check was asked for"),
    "same": (ending(Outcome.NO_CHANGE), "the files are as they were"),
    "blocked": (
        ending(Outcome.BLOCKED, findings=FOUND),
        ".github/ci.yml: CI runs it, and 1 more",
    ),
    "review": (ending(Outcome.NEEDS_REVIEW, findings=FOUND), "logo.png: is binary"),
    "red": (
        ending(Outcome.CHECKS_FAILED, **RED),
        "`make test` failed (2) in a fresh container",
    ),
    "unproved": (
        ending(Outcome.CHECKS_FAILED, facts={"proof": "missing"}),
        "the checks could not be run in a fresh container",
    ),
    "turns": (
        ending(Outcome.BUDGET, facts={"stop": "turns"}),
        "not finished after 25 turns (--max-turns)",
    ),
    "cost": (
        ending(Outcome.BUDGET, facts={"stop": "cost"}),
        "its answers cost more than 3.00 US dollars at list prices (--max-cost)",
    ),
    "read": (
        ending(Outcome.BUDGET, facts={"stop": "input_tokens"}),
        "more than 500,000 tokens were read (--max-input-tokens)",
    ),
    "long": (
        ending(Outcome.BUDGET, facts={"stop": "output_tokens"}),
        "an answer was longer than 16,384 tokens",
    ),
    "time": (ending(Outcome.TIME), "the work took longer than 3 s (--max-seconds)"),
    "timeout": (
        ending(Outcome.TIME, timed_by="commands.slow.timeout"),
        "the work took longer than 3 s (commands.slow.timeout)",
    ),
    "cancelled": (ending(Outcome.CANCELLED), "stopped by you, 2 commits kept"),
    "left out": (
        ending(Outcome.UNRECORDED, facts={"left_out": ("inner/",)}),
        "cannot be recorded: inner/",
    ),
    "lost": (ending(Outcome.SANDBOX_LOST, error="It died."), "It died."),
    "failed": (ending(Outcome.WORKER_ERROR, said="no step 3", commits=0), "no step 3"),
    "failed late": (ending(Outcome.WORKER_ERROR, said="no step 3"), "no step 3 (2 commits kept)"),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_names_the_fact(name):
    end, expected = REASONS[name]
    assert reason(end) == expected


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_but_an_error_says_something_without_the_worker(outcome):
    silent = ending(outcome, said="", error="It broke.", facts={"proof": "missing"})
    assert reason(silent)
