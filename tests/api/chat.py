"""The Chat Completions API that many servers speak: what comes in, and the frames that go out."""

import json
from collections.abc import Iterator
from typing import Any

from tests.api.request import Asked, Result, pieces, text_of
from tests.api.scenario import Call, Step

PATH = "/chat/completions"
_STOPS = {"length": "length", "refused": "content_filter"}


def read(body: dict[str, Any]) -> Asked:
    messages = body.get("messages", [])
    last = _last(messages)
    return Asked(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        system="\n".join(text_of(m["content"], "text") for m in messages if m["role"] == "system"),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        prompt="\n".join(text_of(m["content"], "text") for m in last if m["role"] == "user"),
        results=tuple(
            Result(m["tool_call_id"], text_of(m["content"], "text"))
            for m in last
            if m["role"] == "tool"
        ),
    )


def _last(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All messages after the model's last answer."""
    roles = [message["role"] for message in messages]
    after = len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0
    return messages[after:]


def frames(step: Step, number: int, model: str) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _frame(number, model, [{"index": 0, "delta": delta, "finish_reason": finish}])

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(step.text):
        yield chunk({"content": piece})
    for delta in _call_deltas(step, number):
        yield chunk({"tool_calls": [delta]})
    yield chunk({}, _stop(step))
    yield _frame(number, model, [], usage=_usage(step))
    yield b"data: [DONE]\n\n"


def document(step: Step, number: int, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.calls:
        calls = enumerate(step.calls)
        message["tool_calls"] = [_call(call, number, at, call.sent) for at, call in calls]
    return {
        "id": f"chatcmpl_{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _stop(step)}],
        "usage": _usage(step),
    }


def problem(error: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": error, "code": error, "param": None}}


def problem_frame(error: str, message: str) -> bytes:
    return f"data: {json.dumps(problem(error, message))}\n\n".encode()


def _frame(number: int, model: str, choices: list[Any], **more: Any) -> bytes:
    head = {"id": f"chatcmpl_{number}", "object": "chat.completion.chunk", "created": 0}
    chunk = {**head, "model": model, "choices": choices, **more}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _stop(step: Step) -> str:
    return _STOPS.get(step.stop) or ("tool_calls" if step.calls else "stop")


def _call_deltas(step: Step, number: int) -> Iterator[dict[str, Any]]:
    for at, call in enumerate(step.calls):
        yield {"index": at, **_call(call, number, at, "")}
        for piece in pieces(call.sent):
            yield {"index": at, "function": {"arguments": piece}}


def _call(call: Call, number: int, at: int, arguments: str) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": arguments}
    return {"id": f"call_{number}_{at + 1}", "type": "function", "function": function}


def _usage(step: Step) -> dict[str, Any]:
    usage = step.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
    }
