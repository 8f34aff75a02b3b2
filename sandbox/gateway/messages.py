"""Anthropic's Messages API."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.gateway.dialect import Seen, code, given_back, numbers, objects, size
from sandbox.gateway.usage import Usage

WITHHELD: tuple[str, ...] = ("mcp_servers", "speed", "inference_geo")
REFUSED: tuple[str, ...] = ("container",)
CEILINGS: tuple[str, ...] = ("max_tokens",)
LEAST = 1

_CLIENT = ("custom", "bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_")
"""Beginnings of the types of tools that run where the client is, or only search its own tools."""
_DELTAS = ("text", "thinking", "partial_json", "signature", "citation")


def seen(event: dict[str, Any]) -> Seen:
    match event:
        case {"type": "message_start"}:
            return Seen(reported=numbers(event, "message", "usage"))
        case {"type": "content_block_start", "content_block": dict() as block}:
            return Seen(written=sum(size(block.get(name)) for name in _DELTAS))
        case {"type": "content_block_delta", "delta": dict() as delta}:
            return Seen(written=sum(size(delta.get(name)) for name in _DELTAS))
        case {"type": "message_delta" | "message"}:
            reported = numbers(event, "usage")
            return Seen(reported=reported, last="output_tokens" in reported)
        case {"type": "error"}:
            return Seen(problem=code(event.get("error")))
    return Seen()


def results(body: dict[str, Any]) -> dict[str, str]:
    return given_back(
        (block.get("tool_use_id"), block.get("content"))
        for message in objects(body.get("messages"))
        for block in objects(message.get("content"))
        if block.get("type") == "tool_result"
    )


def usage(reported: Mapping[str, int]) -> Usage | None:
    if "input_tokens" not in reported:
        return None
    read = reported.get("cache_read_input_tokens", 0)
    written = reported.get("cache_creation_input_tokens", 0)
    fresh, output = reported["input_tokens"], reported.get("output_tokens", 0)
    return Usage(fresh + read + written, output, read, written)


def problem(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def problem_frame(kind: str, message: str) -> bytes:
    return f"event: error\ndata: {json.dumps(problem(kind, message))}\n\n".encode()


def tool(tool: dict[str, Any]) -> str | None:
    kind = tool.get("type")
    if kind is None or (isinstance(kind, str) and kind.startswith(_CLIENT)):
        return None
    return str(kind)
