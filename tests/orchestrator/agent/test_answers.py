"""Answers that are no step forward."""

import pytest

from orchestrator import prompts
from orchestrator.agent.answers import flaw
from orchestrator.models.model import Answer, Prompt, Results, ToolCall, ToolResult
from orchestrator.pricing import Usage

CALL = ToolCall("1", "bash", "{}")


def answer(text="", calls=(), stop="complete"):
    return Answer(text, calls, Usage(1, 1), stop)


@pytest.mark.parametrize(
    "good",
    [
        answer("All done."),
        answer("", (CALL,), "tools"),
        answer("<tool_result>x</tool_result>", (CALL,), "tools"),
        answer("The tag of a toolbox is <toolbox>, that of a call function_call."),
    ],
)
def test_a_step_or_a_final_answer_has_no_flaw(good):
    assert flaw(good) is None


def test_an_empty_answer_is_not_sent_back():
    assert flaw(answer(" \n")).messages == (Prompt(prompts.EMPTY),)


@pytest.mark.parametrize("tag", ["tool_call", "tool_result", "function_calls", "/tool_use"])
def test_a_tool_written_as_text_is_told_so(tag):
    fabricated = answer(f"I use <{tag}>ls")
    assert flaw(fabricated).messages == (fabricated, Prompt(prompts.FABRICATED))


def test_every_call_of_a_cut_answer_gets_a_result():
    cut = answer("", (CALL,), "length")
    refused = ToolResult("1", prompts.CUT_CALL, error=True)
    assert flaw(cut).messages == (cut, Results((refused,)))


def test_a_cut_answer_without_text_is_not_sent_back():
    assert flaw(answer("", (), "length")).messages == (Prompt(prompts.CUT),)
