"""The exit gate: a final answer counts only when the checks pass."""

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence

from orchestrator.events import AnyEvent, CheckFinished, FilesTouched, Output, Stage
from orchestrator.tools.command import shell
from sandbox.box import Box
from sandbox.stream import Line

REFUSALS = 3
"""So many final answers are sent back before the work ends as it is."""
_TAIL_LINES = 100
_TAIL_WIDTH = 300


def failures(
    checks: Sequence[str], box: Box, step: int, until: float
) -> Generator[AnyEvent, None, tuple[CheckFinished, ...]]:
    """Run the checks and return those that failed; none when there are no checks.

    `until` is the `time.monotonic()` at which the run's time is up. Raises SandboxError.
    """
    failed = []
    for command in checks:
        for event in check(box, command, "work", max(1.0, until - time.monotonic())):
            yield event
            if isinstance(event, CheckFinished) and not event.passed:
                failed.append(event)
    if checks:
        yield FilesTouched(step=step, tool="check")
    return tuple(failed)


def check(box: Box, command: str, stage: Stage, seconds: float) -> Iterator[Output | CheckFinished]:
    """Run one check in a box, its end as the last event; raises SandboxError."""
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    for item in box.stream(shell(command), seconds=seconds):
        if isinstance(item, Line):
            tail.append(item.text[:_TAIL_WIDTH])
            yield Output(stream=item.stream, text=item.text, stage=stage)
        else:
            yield CheckFinished(
                command=command,
                stage=stage,
                passed=item.ok,
                status=item.status,
                seconds=item.seconds,
                tail="\n".join(tail),
            )
