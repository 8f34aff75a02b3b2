import json

import pytest

from orchestrator.errors import ModelError
from orchestrator.models.access import Access
from orchestrator.models.model import Prompt, Results, ToolResult, ToolSchema
from tests.api.scenario import Call, Fault, Step
from tests.api.server import play
from tests.contracts.model_members import connect

TOOLS = (ToolSchema("read_file", "Reads.", {"type": "object"}),)


@pytest.fixture
def ask():
    models = []

    def ask(api, *conversation):
        access = Access("openai", "gpt-x", f"{api.url}/v1", "key-1", "OPENAI_API_KEY")
        models.append(connect(access))
        return models[-1].answer(
            "be brief", conversation, TOOLS, max_output_tokens=100, on_text=lambda text: None
        )

    yield ask
    for model in models:
        model.finish()


def raw(*events):
    """Frames of a Responses stream."""
    return tuple(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def done(item):
    return {"type": "response.output_item.done", "output_index": 0, "item": item}


COMPLETED = {"type": "response.completed", "response": {"id": "r", "status": "completed"}}


def test_a_request_is_what_the_api_documents(ask):
    with play(Step("ok")) as api:
        ask(api, Prompt("go"))
    assert api.requests[0].path == "/v1/responses"
    assert api.requests[0].body == {
        "model": "gpt-x",
        "instructions": "be brief",
        "input": [{"role": "user", "content": "go"}],
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "max_output_tokens": 100,
        "store": False,
        "stream": True,
    }


def test_sealed_reasoning_is_sent_back_unchanged(ask):
    with play(Step(calls=(Call("read_file"),), thinking="A thought."), Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, Results((ToolResult("call_1_1", "one"),)))
    assert api.requests[1].body["input"] == [
        {"role": "user", "content": "go"},
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "A thought."}],
            "encrypted_content": "sealed_1",
        },
        {
            "type": "function_call",
            "id": "fc_1_1",
            "call_id": "call_1_1",
            "name": "read_file",
            "arguments": "{}",
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_1_1", "output": "one"},
    ]


def test_reasoning_that_is_not_sealed_cannot_be_sent_back(ask):
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    with play(Step(raw=raw(done(reasoning), COMPLETED))) as api:
        assert ask(api, Prompt("go")).echo == ()


def test_a_refusal_is_an_answer_that_says_so(ask):
    said = {"type": "refusal", "refusal": "I cannot."}
    message = {"type": "message", "id": "m", "role": "assistant", "content": [said]}
    with play(Step(raw=raw(done(message), COMPLETED))) as api:
        answer = ask(api, Prompt("go"))
    assert (answer.text, answer.stop) == ("I cannot.", "refused")


def test_only_the_terminal_event_makes_an_answer_whole(ask):
    with (
        play(Step("text", fault=Fault(after=4, then="end"))) as api,
        pytest.raises(ModelError, match="cut off before its end"),
    ):
        ask(api, Prompt("go"))


def test_an_error_event_ends_the_answer(ask):
    event = {"type": "error", "code": "server_error", "message": "Sorry.", "param": None}
    with (
        play(Step(raw=raw(event))) as api,
        pytest.raises(ModelError, match=r"answered 500 \(server_error\): Sorry"),
    ):
        ask(api, Prompt("go"))


def test_an_answer_without_usage_counts_nothing(ask):
    with play(Step(raw=raw(COMPLETED))) as api:
        usage = ask(api, Prompt("go")).usage
    assert (usage.input_tokens, usage.output_tokens) == (0, 0)
