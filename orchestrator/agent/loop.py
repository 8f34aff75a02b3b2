"""The agent: a model works with tools until its final answer passes the checks."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import pricing, prompts
from orchestrator.agent import gate
from orchestrator.agent.answers import flaw
from orchestrator.agent.calls import Step, carry_out
from orchestrator.agent.conversation import Conversation
from orchestrator.agent.live import OutOfTimeError
from orchestrator.agent.repeats import STOP_AFTER, WARN_AFTER, Repeats
from orchestrator.dialogue import Dialogue
from orchestrator.errors import (
    ModelAuthError,
    ModelError,
    ModelRefusedError,
    RateLimitedError,
    ScriptError,
)
from orchestrator.events import AnyEvent, Warned, WorkerFinished
from orchestrator.models.model import Model, Prompt, Results, ToolCall, ToolResult
from orchestrator.models.retry import Patience
from orchestrator.spent import Spent
from orchestrator.task import Limits, Task
from orchestrator.tools.boundary import Boundary
from orchestrator.tools.desk import Desk
from orchestrator.tools.table import TOOLS
from orchestrator.tools.tool import Tool
from orchestrator.worker import reopened
from sandbox.box import Box

_STUCK = "stuck: the same call failed {} times in the same way"


@dataclass(frozen=True, slots=True)
class Agent:
    """The worker that lets a model use tools in the box."""

    model: Model
    artifacts: Path
    """A folder on the host for output that is too long to be shown to the model."""
    tools: Sequence[Tool] = TOOLS
    patience: Patience = field(default_factory=Patience)
    """How waiting between attempts to reach the model is done."""
    dialogue: Dialogue | None = None
    """What was said before this task, and where what is said now is kept."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Work on the task, as `Worker.work` says."""
        yield from self._warnings(task.limits)
        if task.only:
            box.guard_files(Boundary(task.only))
        ended = yield from self._ended(task, box)
        try:
            self.model.finish()
        except ScriptError as problem:
            # Work that was ended early leaves steps over, as is to be expected.
            if ended.reason == "complete":
                ended = _failed(problem)
        yield ended

    def _ended(self, task: Task, box: Box) -> Generator[AnyEvent, None, WorkerFinished]:
        try:
            with Desk() as desk:
                return (yield from self._work(task, box, desk))
        except OutOfTimeError:
            return WorkerFinished(reason="time")
        except ModelError as problem:
            return _failed(problem)

    def _work(self, task: Task, box: Box, desk: Desk) -> Generator[AnyEvent, None, WorkerFinished]:
        talk = self._conversation(task)
        tools = {tool.name: tool for tool in self.tools}
        spent, repeats = Spent.within(task.limits), Repeats()
        number, refusals, flawed = 0, 0, False
        opened = box.openings
        while spent.answers < task.limits.turns:
            number += 1
            if reason := spent.over():
                return WorkerFinished(reason=reason)
            if lost := box.lost():
                yield from reopened(box, lost)
            if box.openings != opened:
                talk.add(Prompt(prompts.REOPENED))
                opened = box.openings
            answer = yield from talk.answer(number, spent.until)
            usage = answer.usage
            spent.count(usage.input_tokens, pricing.cost(self.model.name, usage))
            if answer.stop == "refused":
                return WorkerFinished(reason="refused", message=answer.text)
            if fault := flaw(answer):
                if flawed:
                    return WorkerFinished(reason=fault.reason, message=fault.text)
                talk.add(*fault.messages)
                flawed = True
                continue
            talk.add(answer)
            flawed = False
            if answer.calls:
                if reason := spent.over():
                    return WorkerFinished(reason=reason)  # pending calls are not executed
                step = Step(number, box, self.artifacts, spent, desk)
                results = yield from carry_out(step, answer.calls, tools)
                opened = box.openings  # the results say of themselves what died
                talk.add(Results(results))
                failures = repeats.note(answer.calls, results, tools)
                if failures >= STOP_AFTER:
                    return WorkerFinished(reason="failed", message=_STUCK.format(failures))
                if failures == WARN_AFTER:
                    talk.add(Prompt(prompts.STUCK))
                final = _final(answer.calls, results, tools)
            else:
                final = answer.text
            if final is None:
                continue
            failed = yield from gate.failures(task.checks, box, number, spent.until)
            if not failed:
                return WorkerFinished(reason="complete", message=final)
            refusals += 1
            if refusals > gate.REFUSALS:
                return WorkerFinished(reason="gate", message=final)
            talk.add(Prompt(prompts.refusal(failed)))
        return WorkerFinished(reason="turns")

    def _conversation(self, task: Task) -> Conversation:
        talk = Conversation(
            self.model,
            prompts.system(task),
            [tool.schema for tool in self.tools],
            task.limits.output_tokens,
            self.patience,
            list(self.dialogue.earlier) if self.dialogue else [],
            self.dialogue,
        )
        talk.add(Prompt(prompts.request(task)))
        return talk

    def _warnings(self, limits: Limits) -> Iterator[Warned]:
        """Tell which limits cannot hold as they were asked for."""
        if unpriced := pricing.unpriced(self.model.name, limits.cost):
            yield Warned(text=unpriced)


def _final(
    calls: Sequence[ToolCall], results: Sequence[ToolResult], tools: Mapping[str, Tool]
) -> str | None:
    """What a final tool was told, when one was called and did not fail."""
    done = (
        result.text
        for call, result in zip(calls, results, strict=True)
        if not result.error and tools[call.name].final
    )
    return next(done, None)


def _failed(problem: ModelError) -> WorkerFinished:
    match problem:
        case ModelAuthError():
            return WorkerFinished(reason="auth", message=str(problem))
        case RateLimitedError():
            return WorkerFinished(reason="rate_limited", message=str(problem), until=problem.until)
        case ModelRefusedError():
            return WorkerFinished(reason="refused", message=str(problem))
    return WorkerFinished(reason="failed", message=str(problem))
