"""The exit gate: a final answer counts only when the checks pass."""

import time
from collections.abc import Generator, Sequence

from orchestrator.check import check
from orchestrator.events import AnyEvent, CheckFinished, FilesTouched
from orchestrator.worker import reopened
from sandbox.box import Box
from sandbox.errors import SandboxLostError

REFUSALS = 3
"""So many final answers are sent back before the work ends as it is."""


def failures(
    checks: Sequence[str], box: Box, step: int, until: float
) -> Generator[AnyEvent, None, tuple[CheckFinished, ...]]:
    """Run the checks and return those that failed; none when there are no checks.

    `until` is the `time.monotonic()` at which the run's time is up. Raises SandboxError.
    """
    failed = []
    for command in checks:
        ended = yield from _ended(command, box, until)
        if not ended.passed:
            failed.append(ended)
    if checks:
        yield FilesTouched(step=step, tool="check")
    return tuple(failed)


def _ended(command: str, box: Box, until: float) -> Generator[AnyEvent, None, CheckFinished]:
    """Run a check to its end; once more, when the box died under it."""
    while True:
        left = max(1.0, until - time.monotonic())
        try:
            for event in check(box, command, "work", seconds=left, evidence=False):
                yield event
                if isinstance(event, CheckFinished):
                    return event
        except SandboxLostError as lost:
            yield from reopened(box, lost)
