"""Running a check: a command whose exit status says whether the work is right."""

from collections import deque
from collections.abc import Iterator

from orchestrator.events import CheckFinished, Output, Stage, StageStarted
from orchestrator.tools.command import limit_reached
from sandbox.box import Box
from sandbox.stream import Line

TAIL_LINES = 100
"""Lines of a check's output that are kept with its result."""
TAIL_WIDTH = 300
"""Characters of each of them."""

_ORDERED = 'exec sh -c "$0" 2>&1'
"""In one stream the output keeps its order; two are read as they come, each time in another one."""


def check(
    box: Box, command: str, stage: Stage, *, seconds: float, evidence: bool
) -> Iterator[StageStarted | Output | CheckFinished]:
    """Run one check in a box, its end as the last event; the same way at work and in a proof.

    With `evidence` the status is the engine's own, and so evidence. Raises SandboxError.
    """
    yield StageStarted(stage=stage, command=command)
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    for item in box.stream(["sh", "-c", _ORDERED, command], seconds=seconds, evidence=evidence):
        if isinstance(item, Line):
            tail.append(item.text[:TAIL_WIDTH])
            yield Output(stream=item.stream, text=item.text, stage=stage)
        else:
            yield CheckFinished(
                command=command,
                stage=stage,
                passed=item.ok,
                status=item.status,
                seconds=item.seconds,
                tail="\n".join(tail),
                limit=limit_reached(item, box.limits),
            )
