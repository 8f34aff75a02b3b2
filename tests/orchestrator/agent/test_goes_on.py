"""A later run goes on with what was said in earlier ones, also with a model of another API."""

import json
from itertools import product

import pytest

from orchestrator.agent.loop import Agent
from orchestrator.dialogue import Dialogue, read
from orchestrator.task import Task
from tests.api.scenario import Call, Expect, Step
from tests.contracts.model_members import STAGES

LOOK = Step("I look.", (Call("list_dir"), Call("list_dir")))


def sent(body):
    """The ids of all calls, then of all results, in the order of a request to any of the APIs."""
    text = json.dumps(body)
    assert "again" in text
    for message in body.get("messages") or body["input"]:
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        for part in (message, *(message.get("tool_calls") or ()), *blocks):
            kind = part.get("type") or part.get("role")
            if kind in ("tool_use", "function", "function_call"):
                yield "call", part.get("call_id") or part["id"]
            elif kind in ("tool_result", "tool", "function_call_output"):
                keys = ("tool_use_id", "tool_call_id", "call_id")
                yield "result", next(part[key] for key in keys if key in part)


@pytest.mark.parametrize(("first", "second"), [*product(STAGES, STAGES)])
def test_a_conversation_that_was_cut_off_is_sent_whole(first, second, workspace, tmp_path):
    path = tmp_path / "talk.jsonl"

    def work(stage, prompt, *steps):
        with STAGES[stage](*steps) as on:
            dialogue = Dialogue(read(path).messages if path.exists() else (), path)
            dialogue.begin(prompt, on.model.name, tmp_path / "copy.jsonl")
            list(Agent(on.model, tmp_path, dialogue=dialogue).work(Task("", prompt), workspace.box))
            return on.api

    work(first, "once", LOOK, LOOK, Step("Done."))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))  # killed before the last results were kept
    api = work(second, "again", Step("Done.", expect=Expect(said=("again",))))
    assert [message.text for message in read(path).messages if hasattr(message, "text")] == [
        "once",
        "I look.",
        "I look.",
        "again",
        "Done.",
    ]
    if api:
        told = list(sent(api.requests[-1].body))
        pairs = [told[at : at + 4] for at in range(0, len(told), 4)]
        assert len(pairs) == 2
        for one, two, *results in pairs:
            assert results == [("result", one[1]), ("result", two[1])]
        assert len({id for _, id in told}) == 4
