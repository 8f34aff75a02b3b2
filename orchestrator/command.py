"""The deterministic fixer: a worker that is one command, without any model."""

import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.events import (
    AnyEvent,
    FilesTouched,
    Output,
    ToolFinished,
    ToolStarted,
    WorkerFinished,
)
from orchestrator.task import Task
from orchestrator.tools.command import limit_reached, status_line
from orchestrator.tools.excerpt import Excerpt
from orchestrator.tools.tool import OUTPUT_LIMIT
from orchestrator.worker import reopened
from sandbox.box import Box
from sandbox.errors import SandboxLostError
from sandbox.stream import Exit

NOT_STARTED = (126, 127)
"""Statuses of what cannot be run, and of what is not there, as a shell has them."""
COULD_NOT_START = "could not be started in the sandbox; is it in the image, or in set-up?"
_TOOL = "command"


@dataclass(frozen=True, slots=True)
class Command:
    """The worker that runs `task.command` in the box."""

    artifacts: Path
    """A folder on the host; the whole output is kept there as `command.txt`."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Run the command, as `Worker.work` says.

        In a box that died it is started once more, on the files as they were before it: nothing of
        it was kept. What it changed is told whatever its exit status. Only status 0 is `complete`:
        many fixers end with 1 both when problems remain and when they crashed, and from outside
        the two look the same; a person can tell the fixer to end with 0, as `ruff --exit-zero`
        does.
        """
        yield ToolStarted(step=1, call=_TOOL, tool=_TOOL, arguments=json.dumps(task.command))
        until = time.monotonic() + task.limits.seconds
        with (self.artifacts / "command.txt").open("xb") as keep:
            while True:
                opened = box.openings
                try:
                    ended = yield from self._run(task, box, keep, until - time.monotonic())
                except SandboxLostError as lost:
                    yield from reopened(box, lost)
                else:
                    yield FilesTouched(step=1, tool=_TOOL, call=_TOOL)
                if box.openings == opened:
                    break
        yield _ended(task.command[0], ended, limit_reached(ended, box.limits))

    def _run(
        self, task: Task, box: Box, keep: BinaryIO, seconds: float
    ) -> Generator[AnyEvent, None, Exit]:
        excerpt = Excerpt(OUTPUT_LIMIT)
        stream = box.stream(task.command, seconds=max(1.0, seconds), keep=keep)
        for item in stream:
            if isinstance(item, Exit):
                result = f"{excerpt.text('command.txt')}{status_line(item, box.limits)}"
                yield _finished(item, result)
                return item
            excerpt.add(item.text + "\n")
            yield Output(stream=item.stream, text=item.text)
        raise AssertionError("a stream's last item is its Exit")


def _finished(ended: Exit, result: str) -> ToolFinished:
    return ToolFinished(
        step=1,
        call=_TOOL,
        tool=_TOOL,
        result=result,
        error=not ended.ok,
        seconds=ended.seconds,
    )


def _ended(program: str, ended: Exit, limit: str) -> WorkerFinished:
    if ended.timed_out:
        return WorkerFinished(reason="time", message=f"{program} ran out of time")
    if ended.ok:
        return WorkerFinished(reason="complete", message=f"{program} ended with exit status 0")
    if limit:
        message = f"{program} was ended: {limit}"
        return WorkerFinished(reason="failed", message=message)
    return WorkerFinished(reason="failed", message=_failure(program, ended.status))


def _failure(program: str, status: int) -> str:
    if status in NOT_STARTED:
        return f"{program} {COULD_NOT_START}"
    return (
        f"{program} ended with exit status {status}. If that status is no failure, let the command "
        "end with 0."
    )
