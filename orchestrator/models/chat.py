"""Models behind OpenAI's older Chat Completions API: Gemini, Ollama, vLLM and many others."""

from collections.abc import Callable, Sequence
from typing import Any

import openai
from openai.types import CompletionUsage
from openai.types.chat import (
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageParam,
)
from openai.types.chat.chat_completion_chunk import ChoiceDelta, ChoiceDeltaToolCall

from orchestrator import foreign
from orchestrator.models import failure
from orchestrator.models.access import Access
from orchestrator.models.model import (
    Answer,
    AnswerStop,
    Message,
    Prompt,
    Results,
    ToolCall,
    ToolSchema,
)
from orchestrator.models.openai_client import connect, failures
from orchestrator.pricing import Usage


class ChatModel:
    """One model that speaks the Chat Completions API."""

    def __init__(self, access: Access) -> None:
        self.name = access.name
        self._access = access
        self._client = connect(access)

    def answer(
        self,
        system: str,
        conversation: Sequence[Message],
        tools: Sequence[ToolSchema],
        *,
        max_output_tokens: int,
        on_text: Callable[[str], None],
    ) -> Answer:
        """Answer the conversation; see `Model.answer`."""
        draft = _Draft()
        with (
            failures(self._access),
            self._client.chat.completions.create(
                model=self._access.model,
                messages=_messages(system, conversation, self.name),
                tools=[_tool(tool) for tool in tools] or openai.omit,
                # The newer `max_completion_tokens` is unknown to many compatible servers.
                max_tokens=max_output_tokens,
                stream=True,
                stream_options={"include_usage": True},
            ) as stream,
        ):
            for chunk in stream:
                with failure.as_documented(self._access):
                    text = draft.take(chunk)
                if text:
                    on_text(text)
        if not draft.reason:
            raise failure.cut(self._access, stream.response.headers.get("content-type", ""))
        with failure.as_documented(self._access):
            return draft.answer(self.name)

    def finish(self) -> None:
        """Close the connections."""
        self._client.close()


class _Draft:
    """An answer while it streams in."""

    def __init__(self) -> None:
        self.reason = ""
        """The finish reason; without one the answer is not whole."""
        self._text = ""
        self._refused = False
        self._calls: list[dict[str, Any]] = []
        self._at: dict[int, int] = {}
        self._usage = Usage(0, 0)

    def take(self, chunk: ChatCompletionChunk) -> str:
        """Add what one chunk tells, and give the text it brings; the last one has no choice."""
        text = ""
        if chunk.usage:
            self._usage = _usage(chunk.usage)
        for choice in chunk.choices or ():
            text += self._extend(choice.delta)
            self.reason = choice.finish_reason or self.reason
        return text

    def answer(self, name: str) -> Answer:
        """The whole answer, once `reason` is known."""
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"] or "{}")
            for call in self._calls
        )
        return Answer(self._text, calls, self._usage, self._stop(), self._echo(), name)

    def _extend(self, delta: ChoiceDelta) -> str:
        for piece in delta.tool_calls or ():
            self._call(piece)
        text = (delta.content or "") + (delta.refusal or "")
        self._text += text
        self._refused = self._refused or bool(delta.refusal)
        return text

    def _call(self, piece: ChoiceDeltaToolCall) -> None:
        """Add a piece of a call: to the one at its index, unless it brings another id.

        Gemini and Ollama number all calls of an answer 0.
        """
        at = self._at.get(piece.index)
        if at is None or (piece.id and piece.id != self._calls[at]["id"]):
            at = self._at[piece.index] = len(self._calls)
            self._calls.append(_new_call(piece, at))
        function = self._calls[at]["function"]
        if piece.function:
            function["name"] += piece.function.name or ""
            function["arguments"] += piece.function.arguments or ""

    def _stop(self) -> AnswerStop:
        if self._refused or self.reason == "content_filter":
            return "refused"
        if self.reason == "length":
            return "length"
        return "tools" if self._calls else "complete"

    def _echo(self) -> tuple[dict[str, Any], ...]:
        message: dict[str, Any] = {"role": "assistant", "content": self._text or None}
        if self._calls:
            message["tool_calls"] = [_resendable(call) for call in self._calls]
        return (message,) if self._text or self._calls else ()


def _new_call(piece: ChoiceDeltaToolCall, at: int) -> dict[str, Any]:
    """A call without its words, keeping what we do not know: Gemini wants its signatures back."""
    return {
        **(piece.model_extra or {}),
        "id": piece.id or f"call_{at}",
        "type": "function",
        "function": {"name": "", "arguments": ""},
    }


def _resendable(call: dict[str, Any]) -> dict[str, Any]:
    """The call, without arguments that are not JSON: vLLM and Ollama refuse to read them back."""
    function = call["function"]
    try:
        foreign.parse(function["arguments"])
    except ValueError:
        return {**call, "function": {**function, "arguments": "{}"}}
    return call


def _usage(usage: CompletionUsage) -> Usage:
    """The counts; cached tokens are input already.

    Gemini leaves the tokens of its thinking, which cost the same, out of all but the total.
    """
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=max(usage.completion_tokens, usage.total_tokens - usage.prompt_tokens),
        cache_read_tokens=(details and details.cached_tokens) or 0,
        cache_write_tokens=(details and details.cache_write_tokens) or 0,
    )


def _tool(tool: ToolSchema) -> ChatCompletionFunctionToolParam:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _messages(
    system: str, conversation: Sequence[Message], name: str
) -> list[ChatCompletionMessageParam]:
    messages: list[ChatCompletionMessageParam] = []
    if system:
        messages.append({"role": "system", "content": system})
    for message in conversation:
        messages.extend(_message(message, name))
    return messages


def _message(message: Message, name: str) -> Sequence[ChatCompletionMessageParam]:
    match message:
        case Prompt(text):
            return [{"role": "user", "content": text}]
        case Results(results):
            return [
                {"role": "tool", "tool_call_id": result.call, "content": result.text}
                for result in results
            ]
        case Answer(model=author) if author == name:
            return list(message.echo)  # type: ignore[arg-type]  # the API's own message
        case Answer(text, ()):
            return [{"role": "assistant", "content": text}]
        case Answer(text, calls):
            return [_called(text, calls)]


def _called(text: str, calls: Sequence[ToolCall]) -> ChatCompletionMessageParam:
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ],
    }
