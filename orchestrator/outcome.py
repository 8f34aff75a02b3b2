"""How a run ended, derived from facts; and what a guardrail may say of a change."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from orchestrator.screen import count

Stop: TypeAlias = Literal[
    "complete",  # the worker says it is finished
    "turns",
    "input_tokens",
    "output_tokens",
    "cost",
    "time",
    "gate",  # the checks still failed after the last permitted refusal
    "refused",  # the model declined
    "rate_limited",
    "auth",
    "cancelled",
    "stalled",  # nothing was heard of it any more
    "tools_broken",  # nothing that it ran in the sandbox worked
    "failed",
]


class Verdict(StrEnum):
    """What guardrails say of a change, from best to worst."""

    PASS = "pass"
    REVIEW = "review"
    BLOCK = "block"


_SEVERITY = {Verdict.PASS: 0, Verdict.REVIEW: 1, Verdict.BLOCK: 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one guardrail found: by which rule, where, and why it matters."""

    rule: str
    verdict: Verdict
    path: str
    reason: str
    line: int | None = None
    """1-based, in the new file; None where the whole path is meant."""


def worst(findings: tuple[Finding, ...]) -> Verdict:
    """The worst verdict among `findings`; `pass` when there are none."""
    return max((f.verdict for f in findings), key=_SEVERITY.__getitem__, default=Verdict.PASS)


MOST = 200
"""Findings that a record keeps of one change: a small pack can deserve hundreds of thousands."""


def gravest(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """At most `MOST` of `findings`, the worst ones, and one more that counts the rest."""
    if len(findings) <= MOST:
        return findings
    ordered = sorted(findings, key=lambda finding: -_SEVERITY[finding.verdict])
    rest = tuple(ordered[MOST:])
    more = Finding("more", worst(rest), "", f"{count(len(rest), 'more finding')} not listed")
    return (*ordered[:MOST], more)


class Outcome(StrEnum):
    """The one word a run ends with."""

    DONE = "done"
    NO_CHANGE = "no_change"
    BLOCKED = "blocked"
    NEEDS_REVIEW = "needs_review"
    BUDGET = "budget"
    TIME = "time"
    STALLED = "stalled"
    CANCELLED = "cancelled"
    CHECKS_FAILED = "checks_failed"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    SANDBOX_LOST = "sandbox_lost"
    TOOL_SANDBOX_BROKEN = "tool_sandbox_broken"
    DISK_FULL = "disk_full"
    UNRECORDED = "unrecorded"
    WORKER_ERROR = "worker_error"

    @property
    def exit_code(self) -> int:
        """What the command line ends with; scripts may rely on it."""
        return _EXIT_CODES.get(self, 1)


_EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.NO_CHANGE: 0,
    Outcome.BLOCKED: 3,
    Outcome.NEEDS_REVIEW: 4,
    Outcome.BUDGET: 5,
    Outcome.TIME: 124,
    Outcome.STALLED: 124,
    Outcome.CANCELLED: 130,
}

Condition: TypeAlias = Literal["held", "lost", "tools_broken", "disk_full", "time_up"]
"""What became of the sandbox: it held, died, could not run its worker's tools, filled its disk,
reached its own time limit."""

Proof: TypeAlias = Literal["none", "passed", "failed", "missing"]
"""The checks in the fresh container; `missing`: asked for, but they were not run there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that decides how a run ended; nothing here is anybody's opinion."""

    stop: Stop | None
    """Why the worker stopped; None when it ended without a word."""
    cancelled: bool = False
    """A person said stop, whatever the worker noticed of it."""
    sandbox: Condition = "held"
    left_out: tuple[str, ...] = ()
    """Paths of the final files that could not be recorded."""
    rehash_equal: bool | None = None
    """The full re-hash gave the recorded tree; None when it could not be made."""
    changed: bool = False
    """The recorded tree differs from the base's."""
    verdict: Verdict = Verdict.PASS
    """Of the recorded change as a whole."""
    proof: Proof = "none"


def judge_run(facts: Facts) -> Outcome:
    """Say how the run ended: the first line that applies, from the gravest to the best.

    The word must send a reader to what has to be dealt with first, so a later line never hides
    an earlier one.
    """
    # A person's own word explains everything after it: what broke, broke because of it.
    if facts.cancelled or facts.stop == "cancelled":
        return Outcome.CANCELLED
    # A block holds for what is recorded, however the run went on. It comes before everything a
    # worker could bring about itself (fill the disk, use up the budget) to bury it.
    if facts.verdict is Verdict.BLOCK:
        return Outcome.BLOCKED
    # Without its sandbox nothing the worker said of its end means anything.
    if facts.sandbox != "held":
        return _CONDITIONS[facts.sandbox]
    # The branch is not what was in the container. Before the budget: somebody who raises it and
    # resumes would build on files that are not there.
    if facts.left_out or not facts.rehash_equal:
        return Outcome.UNRECORDED
    if facts.stop in ("complete", "gate"):
        return _judge_finished(facts)
    return _STOPS[facts.stop]


def _judge_finished(facts: Facts) -> Outcome:
    """Judge a worker that says it is finished, or that its gate never opened (`gate`).

    Both are claims about the container it worked in; the proof in a fresh one decides.
    """
    # Before review: nobody should spend time on a red change. Before "no change": the checks were
    # part of what was asked, and untouched files that fail them are no success.
    if facts.proof in ("failed", "missing") or (facts.stop == "gate" and facts.proof == "none"):
        return Outcome.CHECKS_FAILED
    if facts.verdict is Verdict.REVIEW:
        return Outcome.NEEDS_REVIEW
    return Outcome.DONE if facts.changed else Outcome.NO_CHANGE


_CONDITIONS = {
    "lost": Outcome.SANDBOX_LOST,
    "tools_broken": Outcome.TOOL_SANDBOX_BROKEN,
    "disk_full": Outcome.DISK_FULL,
    "time_up": Outcome.TIME,
}

_STOPS: dict[Stop | None, Outcome] = {
    "turns": Outcome.BUDGET,
    "input_tokens": Outcome.BUDGET,
    "output_tokens": Outcome.BUDGET,
    "cost": Outcome.BUDGET,
    "time": Outcome.TIME,
    "rate_limited": Outcome.RATE_LIMITED,
    "auth": Outcome.AUTH,
    "stalled": Outcome.STALLED,
    "tools_broken": Outcome.TOOL_SANDBOX_BROKEN,
    "refused": Outcome.WORKER_ERROR,
    "failed": Outcome.WORKER_ERROR,
    None: Outcome.WORKER_ERROR,
}
