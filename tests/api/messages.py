"""Anthropic's Messages API: what comes in, and the frames that go out."""

import json
from collections.abc import Iterator
from typing import Any

from tests.api.request import Asked, Result, pieces, text_of
from tests.api.scenario import Step

PATH = "/messages"
_STOPS = {"length": "max_tokens", "refused": "refusal", "pause": "pause_turn"}


def read(body: dict[str, Any]) -> Asked:
    content = _last(body.get("messages", []))
    return Asked(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system=text_of(body.get("system"), "text"),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        prompt=text_of(content, "text"),
        results=tuple(
            Result(
                block["tool_use_id"],
                text_of(block.get("content"), "text"),
                bool(block.get("is_error")),
            )
            for block in content
            if block["type"] == "tool_result"
        ),
    )


def _last(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All blocks after the model's last answer."""
    blocks: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            blocks = []
    return blocks


def frames(step: Step, number: int, model: str) -> Iterator[bytes]:
    head = {**document(step, number, model), "content": [], "stop_reason": None}
    head["usage"] = {**head["usage"], "output_tokens": 1}
    yield frame("message_start", message=head)
    for index, block in enumerate(_blocks(step, number)):
        yield from _block(index, block)
    stop = {"stop_reason": _stop(step), "stop_sequence": None}
    yield frame("message_delta", delta=stop, usage={"output_tokens": step.usage.output_tokens})
    yield frame("message_stop")


def document(step: Step, number: int, model: str) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(_blocks(step, number)),
        "stop_reason": _stop(step),
        "stop_sequence": None,
        "usage": _usage(step),
    }


def problem(error: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": error, "message": message}}


def problem_frame(error: str, message: str) -> bytes:
    return frame("error", error={"type": error, "message": message})


def frame(kind: str, **values: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def _stop(step: Step) -> str:
    return _STOPS.get(step.stop) or ("tool_use" if step.calls else "end_turn")


def _usage(step: Step) -> dict[str, int]:
    usage = step.usage
    return {
        "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
    }


def _blocks(step: Step, number: int) -> Iterator[dict[str, Any]]:
    if step.thinking:
        yield {"type": "thinking", "thinking": step.thinking, "signature": f"sig_{number}"}
    if step.text:
        yield {"type": "text", "text": step.text}
    for at, call in enumerate(step.calls, start=1):
        # The raw text travels in `input` until it is sent: as pieces, or parsed in a document.
        given = call.sent if call.text is not None else call.arguments
        yield {
            "type": "tool_use",
            "id": f"toolu_{number}_{at}",
            "name": call.tool,
            "input": given,
        }


_EMPTY = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}


def _block(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    kind = block["type"]
    empty = {**block, **_EMPTY.get(kind, {"input": {}})}
    yield frame("content_block_start", index=index, content_block=empty)
    for delta in _deltas(block):
        yield frame("content_block_delta", index=index, delta=delta)
    yield frame("content_block_stop", index=index)


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    match block:
        case {"type": "text", "text": text}:
            yield from ({"type": "text_delta", "text": piece} for piece in pieces(text))
        case {"type": "thinking", "thinking": thought, "signature": signature}:
            for piece in pieces(thought):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": signature}
        case {"input": given}:
            text = given if isinstance(given, str) else json.dumps(given)
            for piece in ["", *pieces(text)]:
                yield {"type": "input_json_delta", "partial_json": piece}
