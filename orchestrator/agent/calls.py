"""Carrying out the tool calls of one answer: reads together, everything else one by one."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from orchestrator.agent.live import Emit, live
from orchestrator.events import AnyEvent, FilesTouched, Output, ToolFinished, ToolStarted
from orchestrator.models.model import ToolCall, ToolResult
from orchestrator.tools.tool import Context, Tool, use
from sandbox.box import Box
from sandbox.stream import Line

_TOGETHER = 8
"""So many reads run at the same time."""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn's place in the run, and what its calls may use."""

    number: int
    box: Box
    artifacts: Path
    until: float
    """`time.monotonic()` at which the run's time is up."""


@dataclass(frozen=True, slots=True)
class _Planned:
    call: ToolCall
    number: int
    tool: Tool | None
    problem: str = ""
    """Why the call cannot be carried out, where `tool` is None."""

    @property
    def changes_files(self) -> bool:
        return self.tool is not None and self.tool.category != "read"


def carry_out(
    step: Step, calls: Sequence[ToolCall], tools: Mapping[str, Tool]
) -> Generator[AnyEvent, None, tuple[ToolResult, ...]]:
    """Give every call its result, in the order of the calls; raises SandboxError alone."""
    results: list[ToolResult] = []
    for together in _batches(list(_plan(calls, tools))):
        try:
            results += yield from live(*(partial(_perform, step, planned) for planned in together))
        except (GeneratorExit, KeyboardInterrupt):
            step.box.sweep()  # the calls go on in their threads; this ends what they run
            raise
        for planned in together:
            if planned.changes_files:
                call = planned.call
                yield FilesTouched(step=step.number, tool=call.name, call=call.id)
    return tuple(results)


def _plan(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> Iterator[_Planned]:
    ids: set[str] = set()
    for number, call in enumerate(calls, start=1):
        if call.id in ids:
            yield _Planned(call, number, None, "not executed: an earlier call has the same id")
        elif call.name not in tools:
            problem = f"unknown tool: {call.name}; the tools are {', '.join(tools)}"
            yield _Planned(call, number, None, problem)
        else:
            yield _Planned(call, number, tools[call.name])
        ids.add(call.id)


def _batches(plan: list[_Planned]) -> Iterator[list[_Planned]]:
    """Group neighbouring calls that change nothing; a change keeps its place in the order."""
    for changes_files, neighbours in groupby(plan, key=lambda planned: planned.changes_files):
        group = list(neighbours)
        size = 1 if changes_files else _TOGETHER
        yield from (group[start : start + size] for start in range(0, len(group), size))


def _perform(step: Step, planned: _Planned, emit: Emit) -> ToolResult:
    call = planned.call
    emit(ToolStarted(step=step.number, call=call.id, tool=call.name, arguments=call.arguments))
    before = time.monotonic()
    result = _result(step, planned, emit)
    emit(
        ToolFinished(
            step=step.number,
            call=call.id,
            tool=call.name,
            result=result.text,
            error=result.error,
            seconds=time.monotonic() - before,
        )
    )
    return result


def _result(step: Step, planned: _Planned, emit: Emit) -> ToolResult:
    if planned.tool is None:
        return ToolResult(planned.call.id, planned.problem, error=True)

    def show(line: Line) -> None:
        emit(Output(stream=line.stream, text=line.text))

    label = f"step-{step.number}-call-{planned.number}"
    return use(
        planned.tool, planned.call, Context(step.box, step.artifacts, label, step.until, show)
    )
