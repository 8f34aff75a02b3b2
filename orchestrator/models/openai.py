"""OpenAI's models over the Responses API, streamed through the official SDK; nothing is stored."""

from collections.abc import Callable, Sequence
from typing import Any

import openai
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseInputItemParam,
    ResponseStreamEvent,
)

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


class OpenAIModel:
    """One model that speaks the Responses API."""

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
        draft = _Draft(self._access)
        with (
            failures(self._access),
            self._client.responses.create(
                model=self._access.model,
                instructions=system or openai.omit,
                input=[item for message in conversation for item in _items(message, self.name)],
                tools=[_tool(tool) for tool in tools] or openai.omit,
                max_output_tokens=max_output_tokens,
                store=False,
                stream=True,
            ) as stream,
        ):
            for event in stream:
                with failure.as_documented(self._access):
                    text = draft.take(event)
                if text:
                    on_text(text)
        if draft.response is None:
            raise failure.cut(self._access, stream.response.headers.get("content-type", ""))
        with failure.as_documented(self._access):
            return draft.answer(draft.response)

    def finish(self) -> None:
        """Close the connections."""
        self._client.close()


class _Draft:
    """An answer while it streams in."""

    def __init__(self, access: Access) -> None:
        self.response: Response | None = None
        """Set by the terminal event alone."""
        self._access = access
        self._items: list[dict[str, Any]] = []

    def take(self, event: ResponseStreamEvent) -> str:
        """Add what one event tells, and give the text it brings.

        Raises the ModelError that a failure event stands for.
        """
        if event.type in ("response.output_text.delta", "response.refusal.delta"):
            return event.delta
        if event.type == "response.output_item.done":
            self._items.append(event.item.to_dict(warnings=False))
        elif event.type in ("response.completed", "response.incomplete"):
            self.response = event.response
        elif event.type == "response.failed":
            error = event.response.error
            self._fail(error.code if error else "", error.message if error else "no reason given")
        elif event.type == "error":
            self._fail(event.code or "", event.message)
        return ""

    def answer(self, response: Response) -> Answer:
        """The whole answer, once the terminal event brought `response`."""
        calls = tuple(
            ToolCall(item["call_id"], item["name"], item["arguments"])
            for item in self._items
            if item["type"] == "function_call"
        )
        parts = [part for item in self._items for part in _parts(item)]
        refused = any(part["type"] == "refusal" for part in parts)
        return Answer(
            text="".join(part.get("text") or part.get("refusal") or "" for part in parts),
            calls=calls,
            usage=_usage(response),
            stop="refused" if refused else _stop(response, calls),
            echo=tuple(item for item in self._items if _echoes(item)),
            model=self._access.name,
        )

    def _fail(self, code: str, message: str) -> None:
        raise failure.refusal(self._access, failure.in_stream(code, message))


def _parts(item: dict[str, Any]) -> list[dict[str, Any]]:
    return item.get("content") or [] if item["type"] == "message" else []


def _echoes(item: dict[str, Any]) -> bool:
    """Whether the API takes the item back: it knows no reasoning it neither stored nor sealed."""
    return item["type"] != "reasoning" or bool(item.get("encrypted_content"))


def _stop(response: Response, calls: Sequence[ToolCall]) -> AnswerStop:
    if response.status == "incomplete":
        details = response.incomplete_details
        return "refused" if details and details.reason == "content_filter" else "length"
    return "tools" if calls else "complete"


def _usage(response: Response) -> Usage:
    """The counts; OpenAI counts cached tokens as input already."""
    if response.usage is None:
        return Usage(0, 0)
    usage = response.usage.to_dict(warnings=False)
    details: Any = usage.get("input_tokens_details") or {}
    return Usage(
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cache_read_tokens=details.get("cached_tokens") or 0,
        cache_write_tokens=details.get("cache_write_tokens") or 0,
    )


def _tool(tool: ToolSchema) -> FunctionToolParam:
    # Strict schemas must list every property as required; ours have optional ones.
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _items(message: Message, name: str) -> Sequence[ResponseInputItemParam]:
    match message:
        case Prompt(text):
            return [{"role": "user", "content": text}]
        case Results(results):
            return [
                {"type": "function_call_output", "call_id": result.call, "output": result.text}
                for result in results
            ]
        case Answer(model=author) if author == name:
            return list(message.echo)  # type: ignore[arg-type]  # the API's own items
        case Answer(text, calls):
            return [*_said(text), *_called(calls)]


def _said(text: str) -> list[ResponseInputItemParam]:
    return [{"role": "assistant", "content": text}] if text else []


def _called(calls: Sequence[ToolCall]) -> list[ResponseInputItemParam]:
    return [
        {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": c.arguments}
        for c in calls
    ]
