"""A request as recordings are looked up by: canonical JSON, and the first difference of two."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sandbox.gateway.volatile import steady

SHOWN = 80
"""Characters of each of two values that differ, around the place where they do."""

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Canonical:
    """One request without what means nothing."""

    line: str
    """Method and path with its query."""
    body: Any = field(compare=False)
    """Its JSON value; bytes that are no JSON are a text."""
    text: str
    """Equal for equal requests."""


def canonical(method: str, target: str, body: Any, day: date) -> Canonical:  # noqa: ANN401
    """The canonical form of a request that was made on `day`; `body` is what `parsed` gave."""
    steadied = steady(target.partition("?")[0], body, day)
    line = f"{method} {target}"
    text = json.dumps(steadied, sort_keys=True, separators=(",", ":"))
    return Canonical(line, steadied, f"{line}\n{text}")


def parsed(body: bytes) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The JSON value of a body; a text where it holds no JSON."""
    if not body:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if value is None or _deep(value):
        return body.decode("utf-8", "backslashreplace")
    return value


def _deep(value: Any) -> bool:  # noqa: ANN401
    """Whether a value has more levels than any honest one, and than what walks it can take."""
    level = [value]
    for _ in range(_DEPTH):
        level = [inner for outer in level for inner in _inner(outer)]
    return bool(level)


def _inner(value: Any) -> Iterable[Any]:  # noqa: ANN401
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def common(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def difference(recorded: Canonical, asked: Canonical) -> str:
    """Where two requests begin to differ, and what each has there; in one line."""
    if recorded.line != asked.line:
        return f"recorded was {_cut(recorded.line)}, asked is {_cut(asked.line)}"
    where, before, now = next(_differences(recorded.body, asked.body, "the body"), ("", "", ""))
    return f"{where}: recorded was {before}, asked is {now}"


def _differences(before: Any, now: Any, where: str) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            inner = f"{where}.{name}" if where != "the body" else name
            yield from _at(before, now, name, inner)
    elif isinstance(before, list) and isinstance(now, list):
        was, is_ = dict(enumerate(before)), dict(enumerate(now))
        for number in range(max(len(before), len(now))):
            yield from _at(was, is_, number, f"{where}[{number}]")
    elif isinstance(before, str) and isinstance(now, str) and before != now:
        start = common(before, now)
        yield where, _around(before, start), _around(now, start)
    elif json.dumps(before) != json.dumps(now):
        yield where, _value(before), _value(now)


def _at(before: Any, now: Any, key: Any, where: str) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    if key not in before:
        yield where, "nothing", _value(now[key])
    elif key not in now:
        yield where, _value(before[key]), "nothing"
    else:
        yield from _differences(before[key], now[key], where)


def _around(text: str, at: int) -> str:
    start = max(0, at - SHOWN // 2)
    piece = text[start : start + SHOWN]
    return ("…" if start else "") + repr(piece) + ("…" if start + SHOWN < len(text) else "")


def _value(value: Any) -> str:  # noqa: ANN401
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
