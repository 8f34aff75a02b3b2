"""How a run ended, derived from facts; and what a guardrail may say of a change."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

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
