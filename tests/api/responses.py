"""OpenAI's Responses API: what comes in, and the frames that go out."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.api.request import Asked, Result, pieces, text_of
from tests.api.scenario import Call, Step

PATH = "/responses"
_ANSWERED = ("reasoning", "function_call", "custom_tool_call", "tool_search_call")
_DELTAS = {"function_call": "function_call_arguments", "custom_tool_call": "custom_tool_call_input"}


def read(body: dict[str, Any]) -> Asked:
    items = _last(body.get("input", []))
    said = [item for item in items if item.get("role") == "user"]
    return Asked(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system=body.get("instructions") or "",
        tools=tuple(_names(body.get("tools") or ())),
        prompt="\n".join(text_of(item["content"], "input_text") for item in said),
        results=tuple(
            Result(item["call_id"], text_of(item.get("output"), "input_text", "output_text"))
            for item in items
            if item.get("type", "").endswith("_output")
        ),
    )


def _last(items: list[dict[str, Any]] | str) -> list[dict[str, Any]]:
    """All items after the model's last answer."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    after: list[dict[str, Any]] = []
    for item in items:
        answered = item.get("role") == "assistant" or item.get("type") in _ANSWERED
        after = [] if answered else [*after, item]
    return after


def _names(tools: Any) -> Iterator[str]:
    """Names of the tools; those of an MCP server nest in a namespace."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}.{name}" for name in _names(tool["tools"]))
        else:
            yield tool.get("name") or tool["type"]


def frames(step: Step, number: int, model: str) -> Iterator[bytes]:
    sequence = count()
    for kind, values in _events(step, number, model):
        yield frame(kind, sequence_number=next(sequence), **values)


def document(step: Step, number: int, model: str) -> dict[str, Any]:
    reasons = {"length": "max_output_tokens", "refused": "content_filter"}
    details = {"reason": reasons[step.stop]} if step.stop in reasons else None
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "incomplete" if details else "completed",
        "incomplete_details": details,
        "error": None,
        "output": list(_items(step, number)),
        "usage": _usage(step),
    }


def problem(error: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": error, "code": error, "param": None}}


def problem_frame(error: str, message: str) -> bytes:
    failed = {"id": "resp_0", "status": "failed", "error": {"code": error, "message": message}}
    return frame("response.failed", sequence_number=0, response=failed)


def frame(kind: str, **values: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def _events(step: Step, number: int, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    whole = document(step, number, model)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": {**begun, "incomplete_details": None}}
    for index, item in enumerate(whole["output"]):
        yield from _item_events(index, item)
    yield f"response.{whole['status']}", {"response": whole}


def _item_events(index: int, item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = {**item, "status": "in_progress"}
    yield "response.output_item.added", {"output_index": index, "item": begun}
    where = {"item_id": item.get("id", ""), "output_index": index}
    if item["type"] == "message":
        for piece in pieces(item["content"][0]["text"]):
            delta = {**where, "content_index": 0, "delta": piece, "logprobs": []}
            yield "response.output_text.delta", delta
    elif item["type"] == "reasoning":
        for piece in pieces(item["summary"][0]["text"]):
            delta = {**where, "summary_index": 0, "delta": piece}
            yield "response.reasoning_summary_text.delta", delta
    elif item["type"] in _DELTAS:
        for piece in pieces(str(item.get("arguments", item.get("input")))):
            yield f"response.{_DELTAS[item['type']]}.delta", {**where, "delta": piece}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _items(step: Step, number: int) -> Iterator[dict[str, Any]]:
    if step.thinking:
        yield {
            "type": "reasoning",
            "id": f"rs_{number}",
            "summary": [{"type": "summary_text", "text": step.thinking}],
            "encrypted_content": f"sealed_{number}",
        }
    if step.text:
        part = {"type": "output_text", "text": step.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for at, call in enumerate(step.calls, start=1):
        yield {**_call(call), "id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}"}


def _call(call: Call) -> dict[str, Any]:
    match call.kind:
        case "custom":
            said: dict[str, Any] = {"name": call.tool, "input": call.sent}
            return {"type": "custom_tool_call", "status": "completed", **said}
        case "tool_search":
            said = {"execution": "client", "arguments": call.arguments}
            return {"type": "tool_search_call", "status": "completed", **said}
        case "function":
            said = {"name": call.tool, "arguments": call.sent}
            namespace = {"namespace": call.namespace} if call.namespace else {}
            return {"type": "function_call", "status": "completed", **said, **namespace}


def _usage(step: Step) -> dict[str, Any]:
    usage = step.usage
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
