"""The most that an answer may write: read from a question, and lowered to what a budget leaves."""

from collections.abc import Iterator
from typing import Any

from sandbox.gateway.dialect import Dialect
from sandbox.gateway.http import RefusedError
from sandbox.gateway.routes import Route

LARGEST = 128 << 10
"""Tokens that an answer may have whose question names no limit: no model's documentation names a
larger one, and a budget that leaves so much need not change such a question."""
STEPS = (16 << 10, 8 << 10, 4 << 10)
"""Smaller limits for servers that refuse one beyond what their model can write."""

GUARDED = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "n", "thinking"})
"""Keys that must not be read in two ways."""


def whole(body: dict[str, Any]) -> bool:
    """Whether the answer comes at once, so that nothing can cut it."""
    return body.get("stream") is not True


def wanted(body: dict[str, Any], dialect: Dialect) -> int:
    """Tokens of output that are asked for at most, those of all choices together."""
    return max(_named(body, dialect).values(), default=LARGEST) * _choices(body)


def lowered(
    body: dict[str, Any], dialect: Dialect, route: Route, tokens: int
) -> Iterator[dict[str, Any]]:
    """`body` with a limit of so many tokens; several where the provider may refuse the first.

    Nothing when so few tokens make no answer.
    """
    each, named = tokens // _choices(body), _named(body, dialect)
    if each < dialect.LEAST or _thinks(body, each):
        return
    if named:
        yield {**body, **{key: min(value, each) for key, value in named.items()}}
        return
    # OpenAI's newer models refuse `max_tokens`; compatible servers ignore its successor.
    theirs = route.priced("").startswith("openai:")
    key = dialect.CEILINGS[-1 if theirs else 0]
    yield from ({**body, key: limit} for limit in (each, *STEPS) if limit <= each)


def _named(body: dict[str, Any], dialect: Dialect) -> dict[str, int]:
    """The limits that the question names itself; in 0 and below some servers read none."""
    found = {key: _count(body, key) for key in dialect.CEILINGS if body.get(key) is not None}
    return {key: LARGEST if value < 1 else value for key, value in found.items()}


def _choices(body: dict[str, Any]) -> int:
    return 1 if body.get("n") is None else max(1, _count(body, "n"))


def _count(body: dict[str, Any], key: str) -> int:
    """The number of `key`; RefusedError (400) for what is none."""
    value = body[key]
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise RefusedError(400, f"`{key}` is no whole number.")
    return value


def _thinks(body: dict[str, Any], limit: int) -> bool:
    """Whether the tokens for thinking alone, which fitted, do not any more: that is refused."""
    thinking = body.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    asked = body.get("max_tokens")
    return isinstance(budget, int) and isinstance(asked, int) and limit <= budget < asked
