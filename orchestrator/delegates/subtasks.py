"""Sub-tasks: parts of a task that our agent hands over to somebody's program, in the same box."""

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from msgspec import structs

from orchestrator import prompts
from orchestrator.delegates.inherited import inherited
from orchestrator.delegates.transcript import SESSIONS, Transcript, found
from orchestrator.events import (
    AnyEvent,
    Changed,
    Deed,
    Delegated,
    Session,
    Stop,
    Turn,
    WorkerFinished,
)
from orchestrator.screen import count, one_line
from orchestrator.spent import Spent
from orchestrator.task import Limits, Task, WorkerKind
from orchestrator.tools.tool import Context, Tool, ToolError, tool
from orchestrator.worker import Hired
from sandbox.gateway.doorway import Doorway

Start = Callable[[Task, Path, Transcript | None, int], Hired]
"""Hires a program for a sub-task; what it prints goes to a folder, and it may have a session. The
number is of all answers that it may get, also where it counts but some of them against its limit.
"""
SECONDS = 300.0
"""Of one sub-task, where its program's table names no `timeout`."""
_NAMED = 50
"""Changed files that are named to the model."""


@dataclass(slots=True)
class _Course:
    """How one sub-task went."""

    program: str
    limits: Limits
    ended: WorkerFinished | None = None
    turns: list[Turn] = field(default_factory=list)
    changes: list[Changed] = field(default_factory=list)
    """As the host recorded them."""

    def report(self, used: Delegated) -> str:
        """What our agent's model is told: facts first, for a long text is cut in its middle."""
        ended = "finished" if used.reason == "complete" else f"stopped: {used.reason}"
        said = _said(used, self.limits)
        facts = prompts.REPORT.format(
            program=self.program, ended=ended, changed=self._changed(), used=_used(used)
        )
        return f"{facts}\n{prompts.SAID}\n{said}" if said else facts

    def _changed(self) -> str:
        if not self.changes:
            return "It changed no file."
        paths = list(dict.fromkeys(path for change in self.changes for path in change.paths))
        count = len(self.changes)
        named = "".join(f"\n- {one_line(path)}" for path in paths[:_NAMED])
        more = f"\n- and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        return f"It changed, in {count} commit{'s' * (count > 1)}:{named}{more}"


class Subtasks:
    """The sub-tasks of one run, one after another, and the tool by which our agent has them done.

    For each its program has a token and a budget of its own, and a way out while it works.
    """

    def __init__(self, task: Task, artifacts: Path, programs: Mapping[str, Start]) -> None:
        """`task` is the agent's; what programs print goes to folders in `artifacts`."""
        self.door = Doorway()
        self._task = task
        self._artifacts = artifacts
        self._programs = programs
        self._count = 0
        self._course: _Course | None = None
        self._sessions: dict[str, tuple[str, Path]] = {}
        """Of each program the last one, and the folder in which it is kept."""
        self._inherited = inherited(artifacts)

    @property
    def tool(self) -> Tool:
        """The tool for those programs that there are."""
        made = tool(self.delegate, "execute", watched=True)
        worker, *others = made.parameters
        enabled = replace(worker, schema={**worker.schema, "enum": list(self._programs)})
        return replace(made, parameters=(enabled, *others))

    def listen(self, event: AnyEvent) -> None:
        """Hear what of a program's work is recorded."""
        if self._course and isinstance(event, Changed):
            self._course.changes.append(event)

    def delegate(
        self, context: Context, worker: str, task: str, resume: bool = False
    ) -> Generator[AnyEvent, None, str]:
        """Hand a part of your task to another agent, and wait until it has ended.

        It is a program with a model and tools of its own, at work on the same files. It knows
        nothing of what was said here. What it uses is taken from your budget. Each call of its
        tools that changes files is recorded by itself. When it ends, all processes in the sandbox
        are ended, also servers and terminals of yours. What it says last is its own claim: look at
        what it did.

        Args:
            worker: The program; claude is Claude Code, codex is Codex.
            task: What it has to do, in words, with all that it needs to know.
            resume: Whether it goes on with its last session in this run, and so with all that was
                said there.
        """
        subtask = self._subtask(worker, task, context.spent)
        before = self._session(worker) if resume else None
        self._count += 1
        folder = self._artifacts / f"delegation-{self._count}"
        folder.mkdir()
        hired = self._programs[worker](subtask, folder, before, context.spent.left().turns)
        course = self._course = _Course(worker, subtask.limits)
        began = context.spent.left().seconds
        try:
            yield from self._watched(hired, subtask, context, course, folder)
        finally:
            self._course = None
            _count(context.spent, hired, course)
        assert course.ended is not None
        seconds = began - context.spent.left().seconds
        told = _told(course.ended, hired, course, context.step, seconds)
        yield told
        if told.reason != "complete":
            raise ToolError(course.report(told))
        return course.report(told)

    def _watched(
        self, hired: Hired, subtask: Task, context: Context, course: _Course, folder: Path
    ) -> Generator[AnyEvent, None, None]:
        """What its program does, as the delegate's; its end is for us, and not the run's."""
        with (
            self.door.put(hired.doors),
            closing(hired.worker.work(subtask, context.box)) as events,
        ):
            for event in events:
                if isinstance(event, WorkerFinished):
                    course.ended = event
                    continue
                if isinstance(event, Session):
                    self._sessions[course.program] = (event.id, folder)
                elif isinstance(event, Turn):
                    course.turns.append(event)
                yield _marked(event, course.program, context.step)

    def _subtask(self, program: str, prompt: str, spent: Spent) -> Task:
        """Raises ToolError when nothing is left that it might use."""
        said = self._task.delegation(program)
        bounds = replace(said, timeout=said.timeout or SECONDS)
        if none := _nothing_of(left := spent.left()):
            raise ToolError(f"not delegated: the run has no {none} left")
        if not prompt.strip():
            raise ToolError("task: it is empty")
        return replace(
            self._task,
            worker=cast("WorkerKind", program),
            prompt=prompt,
            model=said.named(program),
            checks=(),
            notes=(*self._task.notes, prompts.SUBTASK),
            limits=left.within(bounds),
        )

    def _session(self, program: str) -> Transcript:
        """Raises ToolError when there is none."""
        if program in self._inherited and program not in self._sessions:
            return self._inherited[program]
        session, folder = self._sessions.get(program, ("", self._artifacts))
        parts = found(folder / SESSIONS)
        if session not in parts:
            raise ToolError(f"resume: {program} has no session in this run; leave `resume` out")
        return Transcript(session, parts)


def _nothing_of(left: Limits) -> str:
    """What is used up, in words; empty when something is left of everything."""
    if left.turns < 1:
        return "turns"
    if left.input_tokens < 1:
        return "input tokens"
    if left.cost is not None and left.cost <= 0:
        return "money"
    return "time" if left.seconds < 1 else ""


def _marked(event: AnyEvent, program: str, step: int) -> AnyEvent:
    """The event as one of the delegate's, in the step of the agent that waits for it."""
    if not isinstance(event, Deed):
        return event
    return structs.replace(
        event, delegate=program, **({"step": step} if hasattr(event, "step") else {})
    )


def _count(spent: Spent, hired: Hired, course: _Course) -> None:
    used = hired.used()
    known = sum(turn.cost or 0.0 for turn in course.turns)
    spent.count(used.usage.input_tokens, used.cost, len(course.turns), known)


def _told(
    ended: WorkerFinished, hired: Hired, course: _Course, step: int, seconds: float
) -> Delegated:
    used = hired.used()
    return Delegated(
        delegate=course.program,
        step=step,
        reason=ended.reason,
        message=ended.message,
        turns=len(course.turns),
        input_tokens=used.usage.input_tokens,
        output_tokens=used.usage.output_tokens,
        cost=used.cost,
        seconds=seconds,
        until=ended.until,
    )


def _used(told: Delegated) -> str:
    """For a model, and so without the seconds: a replay has others."""
    cost = "cost unknown" if told.cost is None else f"${told.cost:.4f}"
    answers = count(told.turns, "answer")
    return f"{answers}, {told.input_tokens:,} tokens in, {told.output_tokens:,} out, {cost}"


def _said(told: Delegated, limits: Limits) -> str:
    """Its last words, or why it stopped, with the limit that it reached."""
    bounds: Mapping[Stop, str] = {
        "turns": f"It may have {count(limits.turns, 'answer')} of its model.",
        "cost": f"It may use ${limits.cost:g}." if limits.cost is not None else "",
        "input_tokens": f"It may use {limits.input_tokens:,} input tokens.",
        "time": "Its time is up.",
    }
    if told.reason in ("cost", "input_tokens"):
        return bounds[told.reason]
    return "\n".join(filter(None, (bounds.get(told.reason, ""), told.message)))
