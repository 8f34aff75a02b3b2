import json

import pytest

from orchestrator.errors import ModelAuthError
from orchestrator.models.access import Access
from orchestrator.models.model import Prompt, Results, ToolCall, ToolResult, ToolSchema
from orchestrator.pricing import Usage
from tests.api.scenario import Call, Fault, Step
from tests.api.server import play
from tests.contracts.model_members import connect

TOOLS = (ToolSchema("read_file", "Reads.", {"type": "object"}),)


@pytest.fixture
def ask():
    models = []

    def ask(api, *conversation, key="key-1"):
        access = Access("gemini", "gemini-x", f"{api.url}/v1", key, "GEMINI_API_KEY")
        models.append(connect(access))
        return models[-1].answer(
            "be brief", conversation, TOOLS, max_output_tokens=100, on_text=lambda text: None
        )

    yield ask
    for model in models:
        model.finish()


def chunk(delta=None, finish=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'c', 'choices': [choice], **more})}\n\n"


def called(index, name, **more):
    function = {"name": name, "arguments": "{}"}
    call = {"index": index, "type": "function", "function": function, **more}
    return chunk({"tool_calls": [call]})


def test_a_request_is_what_the_api_documents(ask):
    with play(Step("ok")) as api:
        ask(api, Prompt("go"))
    function = {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}}
    assert api.requests[0].path == "/v1/chat/completions"
    assert api.requests[0].body == {
        "model": "gemini-x",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "go"},
        ],
        "tools": [{"type": "function", "function": function}],
        "max_tokens": 100,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_calls_that_are_all_numbered_zero_are_told_apart_by_id(ask):
    frames = (called(0, "first", id="a"), called(0, "second", id="b"), chunk(finish="stop"))
    with play(Step(raw=frames)) as api:
        answer = ask(api, Prompt("go"))
    assert answer.calls == (ToolCall("a", "first", "{}"), ToolCall("b", "second", "{}"))
    assert answer.stop == "tools"


def test_calls_without_an_id_get_one(ask):
    frames = (called(0, "first"), called(1, "second"), chunk(finish="tool_calls"))
    with play(Step(raw=frames)) as api:
        assert [call.id for call in ask(api, Prompt("go")).calls] == ["call_0", "call_1"]


def test_what_a_server_adds_to_a_call_is_sent_back(ask):
    signature = {"extra_content": {"google": {"thought_signature": "abc"}}}
    frames = (called(0, "read_file", id="a", **signature), chunk(finish="tool_calls"))
    with play(Step(raw=frames), Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, Results((ToolResult("a", "one"),)))
    function = {"name": "read_file", "arguments": "{}"}
    call = {"id": "a", "type": "function", "function": function, **signature}
    assert api.requests[1].body["messages"][2:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
    ]


def test_broken_arguments_are_not_sent_back(ask):
    with play(Step(calls=(Call("read_file", text="{brok"),)), Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, Results((ToolResult("call_1_1", "not JSON"),)))
    call = api.requests[1].body["messages"][2]["tool_calls"][0]
    assert (first.calls[0].arguments, call["function"]["arguments"]) == ("{brok", "{}")


def test_thinking_that_is_in_the_total_alone_is_output(ask):
    usage = {"prompt_tokens": 53, "completion_tokens": 6, "total_tokens": 891}
    with play(Step(raw=(chunk({"content": "hi"}, "stop", usage=usage),))) as api:
        assert ask(api, Prompt("go")).usage == Usage(53, 838)


def test_an_error_in_a_list_is_understood(ask):
    body = '[{"error": {"code": 401, "message": "API key not valid.", "status": "X"}}]'
    with (
        play(Step(raw=(body,), fault=Fault(status=401))) as api,
        pytest.raises(ModelAuthError, match="answered 401: API key not valid; set GEMINI_API_KEY"),
    ):
        ask(api, Prompt("go"))


def test_a_refusal_is_an_answer_that_says_so(ask):
    with play(Step(raw=(chunk({"refusal": "I cannot."}), chunk(finish="stop")))) as api:
        answer = ask(api, Prompt("go"))
    assert (answer.text, answer.stop) == ("I cannot.", "refused")


def test_a_server_without_keys_is_asked_without_one(ask):
    with play(Step("ok")) as api:
        ask(api, Prompt("go"), key="")
    assert api.requests[0].key == "none"
