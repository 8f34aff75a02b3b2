"""What holds for every Model."""

import re

import pytest

from orchestrator.models.model import Answer, Prompt, Results, ToolCall, ToolResult, ToolSchema
from orchestrator.pricing import Usage
from tests.api.scenario import Call, Expect, Step
from tests.contracts.model_members import STAGES

TOOL = ToolSchema("read_file", "Reads a file.", {"type": "object", "properties": {}})


@pytest.fixture(params=STAGES.items(), ids=lambda item: item[0])
def stage(request):
    return request.param[1]


def ask(model, *conversation, system="be brief", on_text=lambda text: None):
    return model.answer(system, conversation, (TOOL,), max_output_tokens=100, on_text=on_text)


def told(answer):
    return Results(tuple(ToolResult(call.id, f"result of {call.name}") for call in answer.calls))


def test_a_plain_answer_is_complete(stage):
    with stage(Step("All is well.", usage=Usage(90, 7))) as on:
        answer = ask(on.model, Prompt("go"))
    assert (answer.text, answer.calls, answer.stop) == ("All is well.", (), "complete")
    assert answer.usage == Usage(90, 7)


def test_the_text_is_streamed_as_it_comes(stage):
    shown = []
    with stage(Step("The text of an answer is longer than one piece, Grüße.")) as on:
        answer = ask(on.model, Prompt("go"), on_text=shown.append)
    assert "".join(shown) == answer.text


def test_calls_keep_their_order_and_raw_arguments(stage):
    calls = (Call("read_file", {"path": "ä.py"}), Call("read_file"), Call("x", text="{brok"))
    with stage(Step("Looking.", calls)) as on:
        answer = ask(on.model, Prompt("go"))
    assert [(call.name, call.arguments) for call in answer.calls] == [
        ("read_file", calls[0].sent),
        ("read_file", "{}"),
        ("x", "{brok"),
    ]
    assert (answer.text, answer.stop) == ("Looking.", "tools")


def test_the_calls_of_an_answer_have_different_ids(stage):
    with stage(Step(calls=(Call("read_file"), Call("read_file")))) as on:
        first, second = ask(on.model, Prompt("go")).calls
    assert first.id != second.id


def test_cached_tokens_are_counted_as_input_too(stage):
    with stage(Step("ok", usage=Usage(1000, 5, 700, 200))) as on:
        assert ask(on.model, Prompt("go")).usage == Usage(1000, 5, 700, 200)


@pytest.mark.parametrize("stop", ["length", "refused"])
def test_an_answer_that_was_stopped_says_so(stage, stop):
    with stage(Step("I will", stop=stop)) as on:
        answer = ask(on.model, Prompt("go"))
    assert (answer.text, answer.stop) == ("I will", stop)


def test_results_reach_the_model(stage):
    hears = Expect(said=("result of read_file",))
    with stage(Step(calls=(Call("read_file"),)), Step("Done.", expect=hears)) as on:
        first = ask(on.model, Prompt("go"))
        second = ask(on.model, Prompt("go"), first, told(first))
    assert second.text == "Done."


def test_a_conversation_goes_on_after_broken_arguments(stage):
    with stage(Step(calls=(Call("x", text="{brok"),)), Step("Sorry.")) as on:
        first = ask(on.model, Prompt("go"))
        assert ask(on.model, Prompt("go"), first, told(first)).text == "Sorry."


def test_an_answer_of_another_model_is_understood(stage):
    call = ToolCall("call_7", "read_file", '{"path": "a"}')
    other = Answer("Hm.", (call,), Usage(1, 1), "tools", ({"alien": "block"},), "other:model")
    with stage(Step("Done.", expect=Expect(said=("result of read_file",)))) as on:
        assert ask(on.model, Prompt("go"), other, told(other)).text == "Done."


def test_a_prompt_may_follow_an_answer(stage):
    with stage(Step("Done."), Step("Now.", expect=Expect(said=("tests fail",)))) as on:
        first = ask(on.model, Prompt("go"))
        assert ask(on.model, Prompt("go"), first, Prompt("the tests fail")).text == "Now."


def test_a_system_prompt_may_be_missing(stage):
    with stage(Step("ok")) as on:
        assert ask(on.model, Prompt("go"), system="").text == "ok"


def test_a_model_is_named_provider_and_name(stage):
    with stage() as on:
        assert re.fullmatch(r"[a-z-]+:.+", on.model.name)
