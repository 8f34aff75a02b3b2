"""What a scenario cannot play: failures of the model's API, clocks, money, and things at once."""

import threading
from dataclasses import replace

import msgspec
import pytest

from orchestrator.agent.loop import Agent
from orchestrator.errors import (
    ModelAuthError,
    ModelError,
    ModelRefusedError,
    RateLimitedError,
    ScriptError,
)
from orchestrator.events import (
    Output,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
    Warned,
    WorkerFinished,
)
from orchestrator.models.model import Answer, Prompt, ToolCall
from orchestrator.models.retry import Patience
from orchestrator.models.scripted import Script, ScriptedModel
from orchestrator.pricing import Usage
from orchestrator.task import Limits, Task
from orchestrator.tools.table import TOOLS
from orchestrator.tools.tool import tool
from sandbox.errors import SandboxLostError

TASK = Task(repository="", prompt="Go.")


class Asked:
    """A model that answers with what it is given, or fails with it."""

    name = "test:model"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.conversations = []

    def answer(self, system, conversation, tools, *, max_output_tokens, on_text):
        self.conversations.append(tuple(conversation))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        on_text(answer.text)
        return answer

    def finish(self):
        pass


def said(text="Done.", *calls, stop="complete"):
    return Answer(text, calls, Usage(10, 1), stop)


class Unused:
    """A box in which nothing is done."""

    openings = 1

    def lost(self):
        return None


UNUSED = Unused()


def work(model, tmp_path, box=UNUSED, task=TASK, tools=TOOLS):
    agent = Agent(model, tmp_path, tools, Patience(wait=lambda seconds: None))
    return list(agent.work(task, box))


def scripted(*steps, name="scripted:test"):
    return ScriptedModel(msgspec.convert({"steps": steps}, Script), name)


def test_an_answer_streams_in_before_its_turn_is_told(tmp_path):
    events = work(Asked(said("All is well.")), tmp_path)
    assert [replace_seconds(event) for event in events] == [
        UNPRICED,
        Text(text="All is well."),
        Turn(
            step=1,
            model="test:model",
            text="All is well.",
            input_tokens=10,
            output_tokens=1,
            final=True,
        ),
        WorkerFinished(reason="complete", message="All is well."),
    ]


UNPRICED = Warned(
    text="The price of test:model is unknown, so the cost limit of 3.00 US dollars cannot hold; "
    "limits on tokens, turns and time do."
)


def replace_seconds(event):
    return msgspec.structs.replace(event, seconds=0.0) if isinstance(event, Turn) else event


def test_the_model_is_told_the_prompt_as_it_is(tmp_path):
    model = Asked(said())
    work(model, tmp_path)
    assert model.conversations == [(Prompt("Go."),)]


@pytest.mark.parametrize(
    ("problem", "finished"),
    [
        (ModelAuthError("no key"), WorkerFinished(reason="auth", message="no key")),
        (ModelRefusedError("no"), WorkerFinished(reason="refused", message="no")),
        (ScriptError("lost"), WorkerFinished(reason="failed", message="lost")),
        (ModelError("odd"), WorkerFinished(reason="failed", message="odd")),
        (
            RateLimitedError("later", until=4e9),
            WorkerFinished(reason="rate_limited", message="later", until=4e9),
        ),
    ],
)
def test_a_models_failure_ends_the_work_with_its_reason(tmp_path, problem, finished):
    assert work(Asked(problem), tmp_path)[-1] == finished


def test_a_passing_failure_is_retried_and_told(tmp_path):
    busy = ModelError("busy")
    busy.retryable = True
    events = work(Asked(busy, said()), tmp_path)
    assert [type(event) for event in events[:3]] == [Warned, Warned, Text]
    assert events[-1] == WorkerFinished(reason="complete", message="Done.")


def test_a_refusal_ends_the_work(tmp_path):
    events = work(Asked(said("I will not.", stop="refused")), tmp_path)
    assert events[-1] == WorkerFinished(reason="refused", message="I will not.")


def test_a_script_with_steps_left_over_is_a_failure(tmp_path):
    events = work(scripted({"text": "Done."}, {"text": "More."}), tmp_path)
    assert events[-1].reason == "failed"
    assert "1 of 2 steps" in events[-1].message


def test_an_answer_beyond_the_cost_leaves_its_calls_undone(workspace, tmp_path):
    usage = {"input_tokens": 1_000_000, "output_tokens": 1000}
    call = {"tool": "write_file", "arguments": {"path": "a", "content": "b"}}
    model = scripted({"calls": [call], "usage": usage}, name="anthropic:claude-sonnet-4-6")
    task = replace(TASK, limits=Limits(cost=0.01, input_tokens=10_000_000))
    events = work(model, tmp_path, workspace.box, task)
    assert events[0].cost > 0.01
    assert events[1:] == [WorkerFinished(reason="cost")]
    assert workspace.tree() == {}


def test_a_model_that_never_answers_is_left_when_time_is_up(tmp_path):
    class Silent(Asked):
        def answer(self, *args, **kwargs):
            threading.Event().wait(30)

    events = work(Silent(), tmp_path, task=replace(TASK, limits=Limits(seconds=0.1)))
    assert events == [UNPRICED, WorkerFinished(reason="time")]


def test_a_command_ends_with_the_runs_time(workspace, tmp_path):
    model = scripted({"calls": [{"tool": "bash", "arguments": {"command": "sleep 60"}}]})
    task = replace(TASK, limits=Limits(seconds=2))
    events = work(model, tmp_path, workspace.box, task)
    assert events[-1] == WorkerFinished(reason="time")


def test_reads_of_one_turn_run_together(tmp_path):
    meeting = threading.Barrier(2, timeout=10)

    def meet(context) -> str:
        """Wait for another call."""
        meeting.wait()
        return "met"

    calls = (ToolCall("1", "meet", ""), ToolCall("2", "meet", ""))
    model = Asked(said("", *calls, stop="tools"), said())
    events = work(model, tmp_path, tools=(tool(meet, "read"),))
    results = [event.result for event in events if isinstance(event, ToolFinished)]
    assert results == ["met", "met"]


def test_a_changing_call_ends_before_the_next_one_starts(workspace, tmp_path):
    write = {"tool": "write_file", "arguments": {"path": "a", "content": "b"}}
    edit = {"tool": "edit_file", "arguments": {"path": "a", "old_string": "b", "new_string": "c"}}
    model = scripted({"calls": [write, edit]}, {"text": "Done."})
    kinds = [type(event).__name__ for event in work(model, tmp_path, workspace.box)]
    once = ["ToolStarted", "ToolFinished", "FilesTouched"]
    assert kinds == ["Turn", *once, *once, "Text", "Turn", "WorkerFinished"]


def test_a_repeated_call_id_is_refused_and_still_gets_a_result(tmp_path):
    calls = (ToolCall("1", "finish", '{"message": "a"}'), ToolCall("1", "bash", "{}"))
    model = Asked(said("", *calls, stop="tools"))
    finished = [e for e in work(model, tmp_path) if isinstance(e, ToolFinished)]
    assert [(event.tool, event.error) for event in finished] == [("finish", False), ("bash", True)]


def test_a_commands_lines_are_seen_while_it_runs(workspace, tmp_path):
    command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo second >&2"
    model = scripted(
        {"calls": [{"tool": "bash", "arguments": {"command": command}}]}, {"text": "Done."}
    )
    running = Agent(model, tmp_path).work(TASK, workspace.box)
    assert [type(next(running)) for _ in range(2)] == [Turn, ToolStarted]
    assert next(running) == Output(stream="stdout", text="first")
    workspace.box.run(["touch", "go"])
    assert next(running) == Output(stream="stdout", text="second")
    running.close()


def test_a_lost_sandbox_is_raised(workspace, tmp_path):
    def lose(context) -> str:
        """Lose the sandbox."""
        raise SandboxLostError("The sandbox is gone.")

    model = Asked(said("", ToolCall("1", "lose", ""), stop="tools"))
    with pytest.raises(SandboxLostError):
        work(model, tmp_path, tools=(tool(lose, "read"),))


def test_an_interrupt_passes_through(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        work(Asked(KeyboardInterrupt()), tmp_path)


def test_the_last_permitted_turn_is_the_last(tmp_path):
    turns = [said("", ToolCall("c", f"nope{n}", "{}"), stop="tools") for n in range(5)]
    events = work(Asked(*turns), tmp_path, task=replace(TASK, limits=Limits(turns=3)))
    assert [event.step for event in events if isinstance(event, Turn)] == [1, 2, 3]
    assert events[-1] == WorkerFinished(reason="turns")


def test_a_final_answer_is_sent_back_three_times_at_most(workspace, tmp_path):
    model, task = Asked(*[said()] * 5), replace(TASK, checks=("false",))
    events = work(model, tmp_path, workspace.box, task)
    assert (len(model.conversations), events[-1].reason) == (4, "gate")


def test_a_watched_call_is_seen_event_by_event_and_counts_against_the_limits(tmp_path):
    def hand_over(context):
        """Let somebody else work."""
        for _ in range(3):
            yield Warned(text="worked")
            context.spent.count(10, None)
        return "Done."

    calls = (ToolCall("1", "hand_over", ""),)
    model = Asked(said("", *calls, stop="tools"), said())
    tools = (tool(hand_over, "execute", watched=True),)
    task = replace(TASK, limits=Limits(turns=4))
    kinds = [type(event).__name__ for event in work(model, tmp_path, task=task, tools=tools)]
    assert kinds[3:] == ["ToolStarted", *["Warned"] * 3, "ToolFinished", "WorkerFinished"]
    assert len(model.answers) == 1
