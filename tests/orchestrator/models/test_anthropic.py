import pytest

from orchestrator.errors import ModelError
from orchestrator.models.access import Access
from orchestrator.models.model import Prompt, Results, ToolResult, ToolSchema
from tests.api.scenario import Call, Expect, Fault, Step
from tests.api.server import play
from tests.contracts.model_members import connect

TOOLS = (
    ToolSchema("read_file", "Reads.", {"type": "object"}),
    ToolSchema("write_file", "Writes.", {"type": "object"}),
)
MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
def ask():
    models = []

    def ask(api, *conversation, tools=TOOLS):
        model = connect(Access("anthropic", "claude-x", api.url, "key-1", "KEY"))
        models.append(model)
        return model.answer(
            "be brief", conversation, tools, max_output_tokens=100, on_text=lambda text: None
        )

    yield ask
    for model in models:
        model.finish()


def marked(request):
    """Which texts of the request's messages carry a mark for the cache."""
    blocks = [block for message in request.body["messages"] for block in message["content"]]
    return [
        block.get("text") or block["content"] for block in blocks if MARK.items() <= block.items()
    ]


def result(answer, text):
    return Results((ToolResult(answer.calls[0].id, text),))


def test_a_request_is_what_the_api_documents(ask):
    with play(Step("ok")) as api:
        ask(api, Prompt("go"))
    assert api.requests[0].path == "/v1/messages"
    assert api.requests[0].body == {
        "model": "claude-x",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "be brief", **MARK}],
        "tools": [
            {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object"}},
            {
                "name": "write_file",
                "description": "Writes.",
                "input_schema": {"type": "object"},
                **MARK,
            },
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "go", **MARK}]}],
    }


def test_without_tools_none_are_named(ask):
    with play(Step("ok")) as api:
        ask(api, Prompt("go"), tools=())
    assert "tools" not in api.requests[0].body


def test_the_last_two_of_our_messages_are_marked_for_the_cache(ask):
    looks = Step(calls=(Call("read_file"),))
    with play(looks, looks, Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        second = ask(api, Prompt("go"), first, result(first, "one"))
        ask(api, Prompt("go"), first, result(first, "one"), second, result(second, "two"))
    assert [marked(request) for request in api.requests] == [["go"], ["go", "one"], ["one", "two"]]


def test_thinking_is_sent_back_unchanged(ask):
    thinks = Step("Hm.", (Call("read_file", {"path": "a"}),), thinking="A long thought about it.")
    with play(thinks, Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, result(first, "one"))
    assert api.requests[1].body["messages"][1] == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "A long thought about it.", "signature": "sig_1"},
            {"type": "text", "text": "Hm."},
            {
                "type": "tool_use",
                "id": "toolu_1_1",
                "name": "read_file",
                "input": {"path": "a"},
            },
        ],
    }


def test_a_failed_call_is_marked_as_failed(ask):
    with play(Step(calls=(Call("read_file"),)), Step("Done.", expect=Expect(said=("no",)))) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, Results((ToolResult(first.calls[0].id, "no", error=True),)))
    assert api.asked[1].asked.results[0].error


def test_an_answer_of_nothing_is_left_out_of_the_next_request(ask):
    with play(Step(), Step("Done.")) as api:
        first = ask(api, Prompt("go"))
        ask(api, Prompt("go"), first, Prompt("well?"))
    assert [message["role"] for message in api.requests[1].body["messages"]] == ["user", "user"]


def test_a_pause_is_an_unfinished_answer(ask):
    with play(Step("Wait", stop="pause")) as api:
        assert ask(api, Prompt("go")).stop == "length"


@pytest.mark.parametrize("after", [3, 4, 5])
def test_only_the_last_event_makes_an_answer_whole(ask, after):
    with (
        play(Step("text", fault=Fault(after=after, then="end"))) as api,
        pytest.raises(ModelError, match="cut off before its end"),
    ):
        ask(api, Prompt("go"))


def test_events_and_blocks_of_unknown_kinds_are_no_trouble(ask):
    block = '{"type": "content_block_start", "index": 0, "content_block": {"type": "new", "a": 1}}'
    start = (
        '{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",'
        ' "content": [], "model": "c", "usage": {"input_tokens": 3, "output_tokens": 1}}}'
    )
    frames = {
        "message_start": start,
        "novelty": '{"type": "novelty", "index": 0}',
        "content_block_start": block,
        "ping": '{"type": "ping"}',
        "message_stop": '{"type": "message_stop"}',
    }
    with play(Step(raw=tuple(f"event: {k}\ndata: {v}\n\n" for k, v in frames.items()))) as api:
        answer = ask(api, Prompt("go"))
    assert (answer.text, answer.echo, answer.usage.input_tokens) == (
        "",
        ({"type": "new", "a": 1},),
        3,
    )
