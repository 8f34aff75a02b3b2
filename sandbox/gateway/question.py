"""Reading what a sandbox asks of a model strictly, and taking out what reaches the web.

A body that two programs could read differently, with a key twice or in another case, would be
judged here as one request and answered there as another: it is refused.
"""

import json
import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from sandbox import values
from sandbox.gateway import ceiling
from sandbox.gateway.dialect import Dialect
from sandbox.gateway.http import Headers, RefusedError
from sandbox.gateway.routes import Route


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a model as it leaves: checked, stripped of what is the sandbox's, no key."""

    route: Route
    path: str
    """As the sandbox named it, e.g. `/v1/messages`."""
    url: str
    """Where it goes, with its query."""
    headers: Headers
    body: bytes
    model: str
    results: Mapping[str, str] = field(default_factory=dict)
    """What tools gave back that it tells of, see `Dialect.results`."""
    most: int = 0
    """Tokens of output that are asked for where the answer comes whole; 0 for a stream."""
    held: int = 0
    """Of these, tokens that the budgets keep for the answer until its end."""
    lowered: tuple[bytes, ...] = ()
    """Sent in place of `body` where a budget limits the answer; each if the one before is refused.

    A recording keeps `body`: what is asked again then has another budget.
    """


_JUDGED = frozenset({"model", "stream", "tools", "tool_choice", "messages", "input", "system"})
_IN_BLOCKS = frozenset({"type", "source", "url", "image_url", "file_url", "content", "output"})


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object of a body; RefusedError when it is none, is ambiguous (400), or too much."""
    if values.too_many(body):
        raise RefusedError(413, f"The body has more than {values.MOST:,} values.")
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"The body is no plain JSON: {str(error)[:200]}.") from None
    if not isinstance(value, dict):
        raise RefusedError(400, "The body is no JSON object.")
    return value


def model(body: dict[str, Any]) -> str:
    """The model that is asked; RefusedError (400) when none is named."""
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise RefusedError(400, "The body names no model.")
    return name


def withhold(body: dict[str, Any], dialect: Dialect, route: Route) -> dict[str, Any]:
    """`body` without the tools that run at the provider; the same value when there are none.

    RefusedError (400) for what cannot be taken out without changing what is asked.
    """
    _same_case(body, _JUDGED.union(dialect.WITHHELD, dialect.REFUSED, ceiling.GUARDED))
    for key in dialect.REFUSED:
        if body.get(key) and not route.keeps(key):
            raise RefusedError(400, f"`{key}` is not allowed here.")
    if not route.keeps("url"):
        _refuse_addresses(body)
    kept = {
        key: value for key, value in body.items() if key not in dialect.WITHHELD or route.keeps(key)
    }
    if "tools" in body:
        kept["tools"] = _offered(body["tools"], dialect, route)
        kept = _chosen(kept, body["tools"], dialect, route)
    return body if kept == body else kept


def _offered(tools: object, dialect: Dialect, route: Route) -> list[dict[str, Any]]:
    """The tools that may be offered; those in a namespace are judged one by one."""
    if not isinstance(tools, list):
        raise RefusedError(400, "`tools` is no list.")
    kept = []
    for tool in tools:
        if not isinstance(tool, dict):
            raise RefusedError(400, "A tool is no object.")
        _same_case(tool, {"type", "tools", "environment"})
        kind = dialect.tool(tool)
        if kind is not None and not route.keeps(kind):
            continue
        if tool.get("type") == "namespace":
            tool = {**tool, "tools": _offered(tool.get("tools", []), dialect, route)}
        kept.append(tool)
    return kept


def _chosen(
    kept: dict[str, Any], tools: list[dict[str, Any]], dialect: Dialect, route: Route
) -> dict[str, Any]:
    """`kept` without a choice that names a tool which is not offered any more."""
    gone = [tool for tool in tools if _gone(tool, dialect, route)]
    names = {tool.get(key) for tool in gone for key in ("name", "type")} - {None}
    choice = kept.get("tool_choice")
    without = {key: value for key, value in kept.items() if key != "tool_choice"}
    if not kept["tools"]:
        return {key: value for key, value in without.items() if key != "tools"} if gone else kept
    if not isinstance(choice, dict) or not names:
        return kept
    if isinstance(choice.get("tools"), list):
        left = [tool for tool in choice["tools"] if not _gone(tool, dialect, route)]
        return {**without, "tool_choice": {**choice, "tools": left}} if left else without
    return without if {choice.get("name"), choice.get("type")} & names else kept


def _gone(tool: dict[str, Any], dialect: Dialect, route: Route) -> bool:
    kind = dialect.tool(tool) if isinstance(tool, dict) else None
    return kind is not None and not route.keeps(kind)


def _refuse_addresses(body: dict[str, Any]) -> None:
    """A picture or file that the provider fetches is a way out of the sandbox."""
    for key in ("messages", "input", "system"):
        for block in _blocks(body.get(key)):
            _same_case(block, _IN_BLOCKS)
            source = block.get("source")
            places = [block.get("image_url"), block.get("file_url")]
            if isinstance(source, dict) and source.get("type") == "url":
                places.append(source.get("url"))
            if any(map(_address, places)):
                raise RefusedError(400, "Pictures and files by URL are not allowed here.")


def _blocks(value: object) -> Iterator[dict[str, Any]]:
    """All blocks of a conversation; what a tool was given is no block."""
    if isinstance(value, list):
        for item in value:
            yield from _blocks(item)
    elif isinstance(value, dict):
        yield value
        for key in ("content", "output", "file", "source"):
            yield from _blocks(value.get(key))


def _address(value: object) -> bool:
    if isinstance(value, dict):
        value = value.get("url")
    return isinstance(value, str) and not value.startswith("data:")


def _same_case(value: dict[str, Any], guarded: Set[str]) -> None:
    """Servers written in Go read `Model` as `model`."""
    for key in value:
        if key not in guarded and key.casefold() in guarded:
            raise RefusedError(400, f"The key {key!r} is refused: write it in lower case.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
