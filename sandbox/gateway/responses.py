"""OpenAI's Responses API."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.gateway.dialect import Seen, code, given_back, numbers, objects, size
from sandbox.gateway.usage import Usage

WITHHELD: tuple[str, ...] = ("web_search_options", "service_tier")
REFUSED: tuple[str, ...] = ("background", "prompt", "conversation")
"""A background answer outlives its connection, and so its budget; a stored prompt or conversation
brings tools that nobody here saw."""
CEILINGS: tuple[str, ...] = ("max_output_tokens",)
LEAST = 16

_CLIENT = ("function", "custom", "local_shell", "apply_patch", "namespace", "tool_search")


def seen(event: dict[str, Any]) -> Seen:
    if isinstance(event.get("delta"), str):
        return Seen(written=size(event["delta"]))
    response = event.get("response", event)
    reported = numbers(response, "usage")
    if "input_tokens" not in reported:
        failed = response.get("error") if isinstance(response, dict) else None
        return Seen(problem=code(failed))
    details = {
        **numbers(response, "usage", "input_tokens_details"),
        **numbers(response, "usage", "output_tokens_details"),
    }
    return Seen(reported={**details, **reported}, last=True)


def results(body: dict[str, Any]) -> dict[str, str]:
    return given_back(
        (item.get("call_id"), item.get("output"))
        for item in objects(body.get("input"))
        if str(item.get("type")).endswith("_output")
    )


def usage(reported: Mapping[str, int]) -> Usage | None:
    if "input_tokens" not in reported:
        return None
    return Usage(
        reported["input_tokens"],
        reported.get("output_tokens", 0),
        reported.get("cached_tokens", 0),
        reported.get("cache_write_tokens", 0),
    )


def problem(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}


def problem_frame(kind: str, message: str) -> bytes:
    response = {"id": "", "status": "failed", "error": {"code": kind, "message": message}}
    event = {"type": "response.failed", "sequence_number": 0, "response": response}
    return f"event: response.failed\ndata: {json.dumps(event)}\n\n".encode()


def tool(tool: dict[str, Any]) -> str | None:
    kind = tool.get("type")
    if kind in _CLIENT or (kind == "shell" and _local(tool.get("environment"))):
        return None
    return str(kind)


def _local(environment: object) -> bool:
    return environment is None or (
        isinstance(environment, dict) and environment.get("type") == "local"
    )
