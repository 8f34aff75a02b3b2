"""The Chat Completions API, OpenAI's and that of compatible servers."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.gateway.dialect import Seen, code, given_back, numbers, objects, size
from sandbox.gateway.responses import problem as problem
from sandbox.gateway.usage import Usage

WITHHELD: tuple[str, ...] = ("web_search_options", "service_tier")
REFUSED: tuple[str, ...] = ()
CEILINGS: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
LEAST = 1

_CLIENT = ("function", "custom")


def seen(event: dict[str, Any]) -> Seen:
    reported = numbers(event, "usage")
    details = numbers(event, "usage", "prompt_tokens_details")
    choices = event.get("choices")
    written = sum(map(_written, choices)) if isinstance(choices, list) else 0
    last = "prompt_tokens" in reported
    return Seen(written, {**details, **reported}, last, code(event.get("error")))


def _written(choice: object) -> int:
    """Bytes of all texts in a piece of an answer, however the server names them."""
    delta = choice.get("delta") if isinstance(choice, dict) else None
    return _texts(delta)


def _texts(value: object) -> int:
    match value:
        case str():
            return size(value)
        case dict():
            return sum(_texts(item) for name, item in value.items() if name not in _NAMES)
        case list():
            return sum(map(_texts, value))
    return 0


_NAMES = ("role", "id", "type")


def results(body: dict[str, Any]) -> dict[str, str]:
    return given_back(
        (message.get("tool_call_id"), message.get("content"))
        for message in objects(body.get("messages"))
        if message.get("role") == "tool"
    )


def usage(reported: Mapping[str, int]) -> Usage | None:
    if "prompt_tokens" not in reported:
        return None
    return Usage(
        reported["prompt_tokens"],
        reported.get("completion_tokens", 0),
        reported.get("cached_tokens", 0),
        reported.get("cache_write_tokens", 0),
    )


def problem_frame(kind: str, message: str) -> bytes:
    return f"data: {json.dumps(problem(kind, message))}\n\n".encode()


def tool(tool: dict[str, Any]) -> str | None:
    kind = tool.get("type")
    return None if kind in _CLIENT else str(kind)
