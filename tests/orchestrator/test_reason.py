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
RED = {"facts": {"proof": "failed", "changed": True}, "evidence": (evidence(False),)}
STILL_RED = {"facts": {"proof": "failed"}, "evidence": (evidence(False),)}
ABSENT = CheckFinished(
    command="python3 -m pytest",
    stage="base",
    passed=False,
    status=1,
    seconds=0.1,
    tail="/usr/bin/python3: No module named pytest\n",
)
NOT_STARTED = {"facts": {"proof": "failed"}, "evidence": (Evidence("d" * 40, "image", (ABSENT,)),)}
REASONS = {
    "done": (ending(Outcome.DONE, **GREEN), "2 commits, 1 check passed in a fresh container"),
    "unchecked": (ending(Outcome.DONE, commits=1), "1 commit, no check was asked for"),
    "same": (ending(Outcome.NO_CHANGE), "the files are as they were"),
    "blocked": (
        ending(Outcome.BLOCKED, findings=FOUND),
        ".github/ci.yml: CI runs it, and 1 more finding",
    ),
    "blocked as a whole": (
        ending(Outcome.BLOCKED, findings=(Finding("size.total", Verdict.BLOCK, "", "too much"),)),
        "too much",
    ),
    "review": (ending(Outcome.NEEDS_REVIEW, findings=FOUND), "logo.png: is binary"),
    "red": (
        ending(Outcome.CHECKS_FAILED, **RED),
        "`make test` failed (2) in a fresh container",
    ),
    "still red": (
        ending(Outcome.CHECKS_FAILED, **STILL_RED),
        "`make test` failed (2) on the base, and nothing was changed",
    ),
    "not started": (
        ending(Outcome.CHECKS_FAILED, **NOT_STARTED),
        "`python3 -m pytest` failed (1) on the base, and nothing was changed; it cannot start here:"
        " install what it needs with --setup, or name an --image that has it",
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


def test_what_a_worker_said_is_told_on_one_line():
    said = "I refuse.\n\n  verdict     pass\nnext:\n"
    assert reason(ending(Outcome.WORKER_ERROR, commits=0, said=said)) == (
        "I refuse. verdict     pass next:"
    )


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_but_an_error_says_something_without_the_worker(outcome):
    silent = ending(outcome, said="", error="It broke.", facts={"proof": "missing"})
    assert reason(silent)


@pytest.mark.parametrize(
    ("status", "tail", "known"),
    [
        (127, "sh: 1: pytest: not found", True),
        (126, "sh: 1: ./check: Permission denied", True),
        (1, "/usr/bin/python3: No module named pytest\n", True),
        (1, "python3.12: No module named tests.all", True),
        (1, "ModuleNotFoundError: No module named 'shop'", False),
        (1, "python3: No module named pytest\n1 failed", False),
        (2, "make: *** No rule to make target 'test'.", False),
    ],
)
def test_a_check_that_cannot_start_is_known(status, tail, known):
    check = CheckFinished(
        command="x", stage="base", passed=False, status=status, seconds=0.1, tail=tail
    )
    assert check.could_not_start is known
