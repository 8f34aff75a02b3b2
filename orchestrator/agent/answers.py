"""Answers that are no step forward: cut off, empty, or a tool's work made up as text."""

import re
from dataclasses import dataclass

from orchestrator import prompts
from orchestrator.events import Stop
from orchestrator.models.model import Answer, Message, Prompt, Results, ToolResult

_FABRICATED = re.compile(r"</?(?:tool_(?:use|call|result)|function_(?:call|result)s?)\b")


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with an answer; nothing of it is executed."""

    text: str
    reason: Stop
    """What the work ends with when the next answer is flawed, too."""
    messages: tuple[Message, ...]
    """How the conversation goes on."""


def flaw(answer: Answer) -> Flaw | None:
    """Find what keeps an answer from being a step or a final answer; None when nothing does."""
    if answer.stop == "length":
        return Flaw("an answer was cut off at the output limit", "output_tokens", _cut(answer))
    if answer.calls:
        return None
    if not answer.text.strip():
        return Flaw("an answer was empty", "failed", (Prompt(prompts.EMPTY),))
    if _FABRICATED.search(answer.text):
        messages = (answer, Prompt(prompts.FABRICATED))
        return Flaw("an answer had tool calls or results as text", "failed", messages)
    return None


def _cut(answer: Answer) -> tuple[Message, ...]:
    """Keep what was said; a call whose arguments may be cut short gets a refusal as its result."""
    if answer.calls:
        refused = (ToolResult(call.id, prompts.CUT_CALL, error=True) for call in answer.calls)
        return answer, Results(tuple(refused))
    return (answer, Prompt(prompts.CUT)) if answer.text else (Prompt(prompts.CUT),)
