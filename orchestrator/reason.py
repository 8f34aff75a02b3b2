"""Why a run ended as it did, in one sentence: from facts, not from what the worker says."""

from dataclasses import dataclass

from orchestrator.evidence import Evidence
from orchestrator.outcome import Facts, Finding, Outcome, Verdict
from orchestrator.screen import count
from orchestrator.task import Limits

CANNOT_START = (
    "cannot start here: install what it needs with --setup, or name an --image that has it"
)
"""Of a check, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a run at its end."""

    outcome: Outcome
    facts: Facts
    limits: Limits
    commits: int
    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...]
    said: str
    """The worker's last words; where it failed, the error it met."""
    error: str
    """What went wrong outside the worker, in its own sentence; often nothing."""
    timed_by: str = ""
    """As of `Task`."""


def reason(end: Ending) -> str:
    """One sentence for a person, without a full stop of its own where it ends in a quotation.

    On one line, whatever a worker said: what is shown as lines could pass for our own.
    """
    return " ".join(filter(None, map(str.strip, _reason(end).split("\n"))))


def _reason(end: Ending) -> str:
    match end.outcome:
        case Outcome.DONE:
            return f"{_commits(end)}, {_checks(end)}"
        case Outcome.NO_CHANGE:
            return "the files are as they were"
        case Outcome.BLOCKED:
            return _findings(end, Verdict.BLOCK)
        case Outcome.NEEDS_REVIEW:
            return _findings(end, Verdict.REVIEW)
        case Outcome.CHECKS_FAILED:
            return _red(end)
        case Outcome.BUDGET:
            return _spent(end)
        case Outcome.TIME if end.facts.sandbox == "held":
            by = end.timed_by or "--max-seconds"
            return f"the work took longer than {end.limits.seconds:g} s ({by})"
        case Outcome.CANCELLED:
            return f"stopped by you, {_commits(end)} kept"
        case Outcome.UNRECORDED:
            return _unrecorded(end)
        case Outcome.WORKER_ERROR if end.commits:
            return f"{end.error or end.said} ({_commits(end)} kept)"
        case _:
            return end.error or end.said


def _commits(end: Ending) -> str:
    return count(end.commits, "commit")


def _checks(end: Ending) -> str:
    if not end.evidence or end.facts.proof == "none":
        return "no check was asked for"
    return f"{count(len(end.evidence[-1].checks), 'check')} passed in a fresh container"


def _findings(end: Ending, verdict: Verdict) -> str:
    found = [each for each in end.findings if each.verdict is verdict]
    told = [f"{each.path}: {each.reason}" if each.path else each.reason for each in found]
    first, *others = told or ["a guardrail said so"]
    more = count(len(others), "more finding")
    return f"{first}, and {more}" if others else first


def _red(end: Ending) -> str:
    failed = (
        [check for check in end.evidence[-1].checks if not check.passed] if end.evidence else []
    )
    if end.facts.proof != "failed" or not failed:
        return end.error or "the checks could not be run in a fresh container"
    check = failed[0]
    where = "in a fresh container" if end.facts.changed else "on the base, and nothing was changed"
    advice = f"; it {CANNOT_START}" if check.could_not_start else ""
    return f"`{check.command}` failed ({check.ending}) {where}{advice}"


def _spent(end: Ending) -> str:
    match end.facts.stop:
        case "turns":
            turns = end.limits.turns
            return f"not finished after {turns} {'turn' if turns == 1 else 'turns'} (--max-turns)"
        case "cost":
            dollars = f"{end.limits.cost:.2f} US dollars"
            return f"its answers cost more than {dollars} at list prices (--max-cost)"
        case "input_tokens":
            return f"more than {end.limits.input_tokens:,} tokens were read (--max-input-tokens)"
        case _:
            return f"an answer was longer than {end.limits.output_tokens:,} tokens"


def _unrecorded(end: Ending) -> str:
    if end.facts.left_out:
        some = ", ".join(end.facts.left_out[:3])
        return f"cannot be recorded: {some}" + (" ..." if len(end.facts.left_out) > 3 else "")
    return end.error or "the files in the container are not the recorded ones"
