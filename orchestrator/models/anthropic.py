"""Claude over Anthropic's Messages API, streamed through the official SDK."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
from anthropic.types import (
    CacheControlEphemeralParam,
    MessageParam,
    RawContentBlockDelta,
    RawMessageStreamEvent,
    TextBlockParam,
    ToolParam,
)

from orchestrator import foreign
from orchestrator.models import failure
from orchestrator.models.access import CONNECT_SECONDS, Access
from orchestrator.models.model import (
    Answer,
    AnswerStop,
    Message,
    Prompt,
    Results,
    ToolCall,
    ToolSchema,
)
from orchestrator.pricing import Usage

_CACHE: CacheControlEphemeralParam = {"type": "ephemeral"}

_STOPS: dict[str, AnswerStop] = {
    "end_turn": "complete",
    "stop_sequence": "complete",
    "tool_use": "tools",
    "refusal": "refused",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    # A pause belongs to tools that run at the provider. We offer none; the answer is unfinished.
    "pause_turn": "length",
}


class AnthropicModel:
    """One Claude model."""

    def __init__(self, access: Access) -> None:
        self.name = access.name
        self._access = access
        self._client = anthropic.Anthropic(
            api_key=access.key,
            base_url=access.base_url,
            max_retries=0,
            timeout=anthropic.Timeout(access.silence, connect=CONNECT_SECONDS),
            http_client=access.client(anthropic.DefaultHttpxClient),
            open_telemetry=False,
        )
        # The SDK adds headers it finds in ANTHROPIC_CUSTOM_HEADERS and takes no word against it.
        self._client._custom_headers = {}

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
            _failures(self._access),
            self._client.messages.create(
                model=self._access.model,
                max_tokens=max_output_tokens,
                system=_system(system),
                messages=_messages(conversation, self.name),
                tools=_tools(tools),
                stream=True,
            ) as stream,
        ):
            for event in stream:
                with failure.as_documented(self._access):
                    text = draft.take(event)
                if text:
                    on_text(text)
        if not draft.ended:
            raise failure.cut(self._access, stream.response.headers.get("content-type", ""))
        with failure.as_documented(self._access):
            return draft.answer(self.name)

    def finish(self) -> None:
        """Close the connections."""
        self._client.close()


class _Draft:
    """An answer while it streams in."""

    def __init__(self) -> None:
        self.ended = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._tokens: dict[str, int] = {}
        self._stop = ""

    def take(self, event: RawMessageStreamEvent) -> str:
        """Add what one event tells, and give the text it brings.

        Events and deltas of kinds unknown to us tell nothing.
        """
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "content_block_start":
            self._blocks[event.index] = event.content_block.to_dict(warnings=False)
        elif event.type == "content_block_delta":
            return self._extend(event.index, event.delta)
        elif event.type == "message_delta":
            self._stop = event.delta.stop_reason or ""
            self._count(event.usage)
        elif event.type == "message_stop":
            self.ended = True
        return ""

    def answer(self, name: str) -> Answer:
        """The whole answer, once it `ended`."""
        calls = tuple(self._calls())
        for index in self._inputs:
            self._blocks[index]["input"] = _object(self._input(index))
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        return Answer(
            text="".join(block["text"] for block in blocks if block["type"] == "text"),
            calls=calls,
            usage=self._usage(),
            stop=_STOPS.get(self._stop) or ("tools" if calls else "complete"),
            # The API refuses a text block that is empty, even its own.
            echo=tuple(block for block in blocks if block != {**block, "type": "text", "text": ""}),
            model=name,
        )

    def _extend(self, index: int, delta: RawContentBlockDelta) -> str:
        block = self._blocks[index]
        if delta.type == "text_delta":
            block["text"] += delta.text
            return delta.text
        if delta.type == "thinking_delta":
            block["thinking"] += delta.thinking
        elif delta.type == "signature_delta":
            block["signature"] = delta.signature
        elif delta.type == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta.partial_json)
        return ""

    def _calls(self) -> Iterator[ToolCall]:
        for index, block in sorted(self._blocks.items()):
            if block["type"] == "tool_use":
                yield ToolCall(block["id"], block["name"], self._input(index))

    def _input(self, index: int) -> str:
        """The JSON text of a call's arguments; a tool without any gets an empty object."""
        return "".join(self._inputs.get(index, ())) or "{}"

    def _count(self, usage: anthropic.BaseModel) -> None:
        """Keep the newest of each count: those of `message_delta` are totals, but may be absent."""
        counts = usage.to_dict(warnings=False)
        self._tokens |= {name: n for name, n in counts.items() if isinstance(n, int)}

    def _usage(self) -> Usage:
        read = self._tokens.get("cache_read_input_tokens", 0)
        written = self._tokens.get("cache_creation_input_tokens", 0)
        fresh = self._tokens.get("input_tokens", 0)
        output = self._tokens.get("output_tokens", 0)
        return Usage(fresh + read + written, output, read, written)


def _object(text: str) -> dict[str, Any]:
    """The object that JSON `text` holds; an empty one if it is broken: the API takes no text."""
    try:
        value = foreign.parse(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _system(text: str) -> list[TextBlockParam] | anthropic.Omit:
    if not text:
        return anthropic.omit
    return [{"type": "text", "text": text, "cache_control": _CACHE}]


def _tools(tools: Sequence[ToolSchema]) -> list[ToolParam] | anthropic.Omit:
    """The tools, the last one marked: everything up to it can be read from the cache."""
    if not tools:
        return anthropic.omit
    described: list[ToolParam] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in tools
    ]
    described[-1]["cache_control"] = _CACHE
    return described


def _messages(conversation: Sequence[Message], name: str) -> list[MessageParam]:
    """The conversation as the API wants it, the last two of our messages marked for the cache.

    Two, because the API looks back only 20 blocks from a mark for an earlier one, and a turn with
    many calls is longer than that.
    """
    ours = [at for at, message in enumerate(conversation) if not isinstance(message, Answer)]
    messages: list[MessageParam] = []
    for at, message in enumerate(conversation):
        blocks = _blocks(message, name)
        if at in ours[-2:]:
            blocks[-1] = {**blocks[-1], "cache_control": _CACHE}
        if blocks and isinstance(message, Answer):
            messages.append({"role": "assistant", "content": blocks})
        elif blocks:
            messages.append({"role": "user", "content": blocks})
    return messages


def _blocks(message: Message, name: str) -> list[Any]:
    match message:
        case Prompt(text):
            return [_text(text)]
        case Results(results):
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": result.call,
                    "content": result.text,
                    "is_error": result.error,
                }
                for result in results
            ]
        case Answer(model=author) if author == name:
            return list(message.echo)
        case Answer(text, calls):
            return ([_text(text)] if text else []) + [
                {"type": "tool_use", "id": c.id, "name": c.name, "input": _object(c.arguments)}
                for c in calls
            ]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@contextmanager
def _failures(access: Access) -> Iterator[None]:
    """Turn what the SDK raises into our errors, which never quote the key."""
    try:
        yield
    except anthropic.APIStatusError as problem:
        raise failure.refusal(access, _failure(problem)) from None
    except (anthropic.APIConnectionError, httpx2.HTTPError) as problem:
        raise failure.unanswered(access, problem.__cause__ or problem) from None
    except json.JSONDecodeError:
        raise failure.broken(access, "a piece of the answer is not JSON") from None


def _failure(problem: anthropic.APIStatusError) -> failure.Failure:
    code = failure.words(problem.body, "error", "type")
    message = failure.words(problem.body, "error", "message") or problem.message
    if problem.status_code < 400:
        return failure.in_stream(code, message)
    return failure.Failure(problem.status_code, code, message, problem.response.headers)
