"""Every combination of facts, against the precedence written down as a list."""

import itertools
from typing import get_args

import pytest

from orchestrator.outcome import (
    MOST,
    Condition,
    Facts,
    Finding,
    Outcome,
    Proof,
    Stop,
    Verdict,
    gravest,
    judge_run,
    worst,
)

STOPS: dict[Stop | None, Outcome] = {
    "turns": Outcome.BUDGET,
    "input_tokens": Outcome.BUDGET,
    "output_tokens": Outcome.BUDGET,
    "cost": Outcome.BUDGET,
    "time": Outcome.TIME,
    "refused": Outcome.WORKER_ERROR,
    "rate_limited": Outcome.RATE_LIMITED,
    "auth": Outcome.AUTH,
    "stalled": Outcome.STALLED,
    "tools_broken": Outcome.TOOL_SANDBOX_BROKEN,
    "failed": Outcome.WORKER_ERROR,
    None: Outcome.WORKER_ERROR,
}

PRECEDENCE = [
    (Outcome.CANCELLED, lambda f: f.cancelled or f.stop == "cancelled"),
    (Outcome.BLOCKED, lambda f: f.verdict == "block"),
    (Outcome.SANDBOX_LOST, lambda f: f.sandbox == "lost"),
    (Outcome.TOOL_SANDBOX_BROKEN, lambda f: f.sandbox == "tools_broken"),
    (Outcome.DISK_FULL, lambda f: f.sandbox == "disk_full"),
    (Outcome.TIME, lambda f: f.sandbox == "time_up"),
    (Outcome.UNRECORDED, lambda f: f.left_out),
    (Outcome.UNRECORDED, lambda f: f.rehash_equal is not True),
    *((outcome, lambda f, stop=stop: f.stop == stop) for stop, outcome in STOPS.items()),
    (Outcome.CHECKS_FAILED, lambda f: f.proof in ("failed", "missing")),
    (Outcome.CHECKS_FAILED, lambda f: f.stop == "gate" and f.proof == "none"),
    (Outcome.NEEDS_REVIEW, lambda f: f.verdict == "review"),
    (Outcome.NO_CHANGE, lambda f: not f.changed),
    (Outcome.DONE, lambda f: True),
]


def every_combination():
    for stop, cancelled, sandbox, left_out, equal, changed, verdict, proof in itertools.product(
        (*get_args(Stop), None),
        (False, True),
        get_args(Condition),
        ((), ("nested",)),
        (True, False, None),
        (True, False),
        Verdict,
        get_args(Proof),
    ):
        yield Facts(
            stop=stop,
            cancelled=cancelled,
            sandbox=sandbox,
            left_out=left_out,
            rehash_equal=equal,
            changed=changed,
            verdict=verdict,
            proof=proof,
        )


def test_every_combination_of_facts_follows_the_precedence():
    wrong = [
        facts
        for facts in every_combination()
        if judge_run(facts) != next(outcome for outcome, applies in PRECEDENCE if applies(facts))
    ]
    assert wrong == []


def test_exit_code_zero_needs_a_finished_worker_a_whole_record_and_no_red_check():
    for facts in every_combination():
        if judge_run(facts).exit_code == 0:
            assert facts.stop in ("complete", "gate")
            assert facts.verdict == "pass"
            assert facts.rehash_equal
            assert not facts.left_out
            assert facts.proof in ("none", "passed")


def test_facts_nobody_filled_in_are_no_success():
    assert judge_run(Facts(stop="complete")) == Outcome.UNRECORDED


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("done", 0),
        ("no_change", 0),
        ("blocked", 3),
        ("needs_review", 4),
        ("budget", 5),
        ("time", 124),
        ("stalled", 124),
        ("cancelled", 130),
        ("checks_failed", 1),
        ("rate_limited", 1),
        ("auth", 1),
        ("sandbox_lost", 1),
        ("tool_sandbox_broken", 1),
        ("disk_full", 1),
        ("unrecorded", 1),
        ("worker_error", 1),
    ],
)
def test_exit_codes_are_those_that_scripts_rely_on(outcome, code):
    assert Outcome(outcome).exit_code == code


def test_the_worst_finding_decides():
    findings = tuple(Finding("r", verdict, "p", "why") for verdict in ("review", "block", "pass"))
    assert worst(findings) == Verdict.BLOCK


def test_no_findings_pass():
    assert worst(()) == Verdict.PASS


def test_of_very_many_findings_the_gravest_are_kept_and_the_rest_is_counted():
    mild = tuple(Finding("a", Verdict.REVIEW, str(n), "mild") for n in range(MOST))
    grave = Finding("b", Verdict.BLOCK, "x", "grave")
    more = Finding("more", Verdict.REVIEW, "", "1 more finding not listed")
    assert gravest((*mild, grave)) == (grave, *mild[:-1], more)
    assert gravest(mild) == mild
