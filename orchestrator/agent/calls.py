"""Carrying out the tool calls of one answer: reads together, everything else one by one."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from orchestrator import prompts
from orchestrator.agent.live import Emit, live
from orchestrator.events import AnyEvent, FilesTouched, Output, ToolFinished, ToolStarted
from orchestrator.models.model import ToolCall, ToolResult
from orchestrator.spent import Spent
from orchestrator.tools.desk import Desk
from orchestrator.tools.tool import Context, Tool, use, watch
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
    spent: Spent
    """What the run has used so far."""
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

    @property
    def watched(self) -> bool:
        return self.tool is not None and self.tool.watched

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
        performed = yield from _performing(step, together)
    except (GeneratorExit, KeyboardInterrupt):
        with suppress(SandboxLostError):
            step.box.sweep()  # the calls go on in their threads; this ends what they run
        raise
    results = [each.result for each in performed]
    if lost := next((each.lost for each in performed if each.lost), None):
        yield from reopened(step.box, lost)
        return results
    watched = any(planned.watched for planned in together)
    for planned in together:
        if planned.changes_files and not watched:
            call = planned.call
            yield FilesTouched(step=step.number, tool=call.name, call=call.id)
    if step.box.openings != opened:
        return [_died(result, watched) for result in results]
    return results


def _died(result: ToolResult, watched: bool) -> ToolResult:
    """With a note that the box died: before the caller could record the files or, if the call was
    watched, in its midst.
    """
    note = prompts.DIED_WITHIN if watched else prompts.DIED_AFTER
    return replace(result, text=f"{result.text}\n{note}", error=result.error or not watched)


def _performing(
    step: Step, together: list[_Planned]
) -> Generator[AnyEvent, None, list[_Performed]]:
    if together[0].watched:
        return [(yield from _watched(step, together[0]))]
    return (yield from live(*(partial(_perform, step, planned) for planned in together)))


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
    before = time.monotonic()
    emit(_started(step, planned))
    try:
        performed = _Performed(_result(step, planned, emit))
    except SandboxLostError as lost:
        performed = _lost(planned, lost)
    emit(_finished(step, planned, performed, before))
    return performed


def _watched(step: Step, planned: _Planned) -> Generator[AnyEvent, None, _Performed]:
    """Perform a call whose events the caller sees one by one, and may record files between."""
    before = time.monotonic()
    yield _started(step, planned)
    assert planned.tool is not None
    context = _context(step, planned, lambda line: None)
    try:
        performed = _Performed((yield from watch(planned.tool, planned.call, context)))
    except SandboxLostError as lost:
        performed = _lost(planned, lost)
    yield _finished(step, planned, performed, before)
    return performed


def _started(step: Step, planned: _Planned) -> ToolStarted:
    call = planned.call
    return ToolStarted(step=step.number, call=call.id, tool=call.name, arguments=call.arguments)


def _finished(step: Step, planned: _Planned, performed: _Performed, began: float) -> ToolFinished:
    return ToolFinished(
        step=step.number,
        call=planned.call.id,
        tool=planned.call.name,
        result=performed.result.text,
        error=performed.result.error,
        seconds=time.monotonic() - began,
    )


def _lost(planned: _Planned, lost: SandboxLostError) -> _Performed:
    # At a limit of its own it stays closed.
    text = prompts.OVER.format(lost) if lost.limit else prompts.DIED
    return _Performed(ToolResult(planned.call.id, text, error=True), lost)


def _result(step: Step, planned: _Planned, emit: Emit) -> ToolResult:
    if planned.tool is None:
        return ToolResult(planned.call.id, planned.problem, error=True)

    def show(line: Line) -> None:
        emit(Output(stream=line.stream, text=line.text))

    return use(planned.tool, planned.call, _context(step, planned, show))


def _context(step: Step, planned: _Planned, show: Callable[[Line], None]) -> Context:
    return Context(
        step.box,
        step.artifacts,
        f"step-{step.number}-call-{planned.number}",
        step.spent.until,
        show,
        step.desk,
        spent=step.spent,
        step=step.number,
    )
