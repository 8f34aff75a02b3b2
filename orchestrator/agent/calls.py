"""Carrying out the tool calls of one answer: reads together, everything else one by one."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from orchestrator import prompts
from orchestrator.agent.live import Emit, live
from orchestrator.events import AnyEvent, FilesTouched, Output, ToolFinished, ToolStarted
from orchestrator.models.model import ToolCall, ToolResult
from orchestrator.tools.desk import Desk
from orchestrator.tools.tool import Context, Tool, use
from orchestrator.worker import reopened
from sandbox.box import Box
from sandbox.errors import SandboxLostError
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
    desk: Desk
    """What the tools keep in mind, from the first step to the last."""


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

    def skipped(self) -> "_Planned":
        return replace(self, tool=None, problem=prompts.SKIPPED)


@dataclass(frozen=True, slots=True)
class _Performed:
    result: ToolResult
    lost: SandboxLostError | None = None
    """Why the sandbox was dead when the call ended, if it was."""


def carry_out(
    step: Step, calls: Sequence[ToolCall], tools: Mapping[str, Tool]
) -> Generator[AnyEvent, None, tuple[ToolResult, ...]]:
    """Give every call its result, in the order of the calls; raises SandboxError alone.

    When the sandbox died in one and was opened again, that is its result, and the calls after it
    are not carried out: they were meant for other files.
    """
    results: list[ToolResult] = []
    opened = step.box.openings
    for together in _batches(list(_plan(calls, tools))):
        if step.box.openings == opened:
            results += yield from _carried_out(step, together)
        else:
            results += yield from _carried_out(step, [each.skipped() for each in together])
    return tuple(results)


def _carried_out(
    step: Step, together: list[_Planned]
) -> Generator[AnyEvent, None, list[ToolResult]]:
    """Carry out calls at the same time; a changing call comes alone."""
    opened = step.box.openings
    try:
        performed = yield from live(*(partial(_perform, step, planned) for planned in together))
    except (GeneratorExit, KeyboardInterrupt):
        with suppress(SandboxLostError):
            step.box.sweep()  # the calls go on in their threads; this ends what they run
        raise
    results = [each.result for each in performed]
    if lost := next((each.lost for each in performed if each.lost), None):
        yield from reopened(step.box, lost)
        return results
    for planned in together:
        if planned.changes_files:
            call = planned.call
            yield FilesTouched(step=step.number, tool=call.name, call=call.id)
    if step.box.openings != opened:  # it died before the caller could record the files
        return [_with(result, prompts.DIED_AFTER) for result in results]
    return results


def _with(result: ToolResult, note: str) -> ToolResult:
    return replace(result, text=f"{result.text}\n{note}", error=True)


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


def _perform(step: Step, planned: _Planned, emit: Emit) -> _Performed:
    call = planned.call
    emit(ToolStarted(step=step.number, call=call.id, tool=call.name, arguments=call.arguments))
    before = time.monotonic()
    performed = _performed(step, planned, emit)
    result = performed.result
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
    return performed


def _performed(step: Step, planned: _Planned, emit: Emit) -> _Performed:
    try:
        return _Performed(_result(step, planned, emit))
    except SandboxLostError as lost:
        # At a limit of its own it stays closed.
        text = prompts.OVER.format(lost) if lost.limit else prompts.DIED
        return _Performed(ToolResult(planned.call.id, text, error=True), lost)


def _result(step: Step, planned: _Planned, emit: Emit) -> ToolResult:
    if planned.tool is None:
        return ToolResult(planned.call.id, planned.problem, error=True)

    def show(line: Line) -> None:
        emit(Output(stream=line.stream, text=line.text))

    label = f"step-{step.number}-call-{planned.number}"
    context = Context(step.box, step.artifacts, label, step.until, show, step.desk)
    return use(planned.tool, planned.call, context)
