"""JSON of another program's making, looked into without a look at every level's type."""

import re
from collections.abc import Iterator
from typing import Any

from orchestrator import foreign
from orchestrator.events import Raw
from orchestrator.task import WorkerKind
from sandbox import values
from sandbox.gateway.relay import PORT

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_GATEWAY = re.compile(
    r" If it persists, check your inference gateway \([^)]{0,300}\)\."
    rf"|, url: http://127\.0\.0\.1:{PORT}/[^\s,;(){{}}'\"]*"
)
"""As Claude Code and Codex name it, also inside an adapter.

Its time grows with the text alone: a line may hold 32 MiB of the first words, and no bracket.
"""

LONGEST = 4_000
"""Bytes of a line of no known type, or characters of its type, that are told."""


def line(data: bytes) -> dict[str, Any] | None:
    """The object of one line; None for anything else, and for more than is parsed."""
    if values.too_many(data):
        return None
    try:
        value = foreign.parse(data.decode("utf-8", "replace"))
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    # Half a surrogate pair can only have been written as an escape.
    return foreign.all_well_formed(value) if _SURROGATE.search(data) else value


def at(value: object, *path: str) -> Any:  # noqa: ANN401 - whatever JSON can say
    """What stands at a path of members; None where there is no such place."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text(value: object, *path: str) -> str:
    """The text at a path; empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def objects(value: object, *path: str) -> Iterator[dict[str, Any]]:
    """The objects of the list at a path."""
    found = at(value, *path)
    for item in found if isinstance(found, list) else ():
        if isinstance(item, dict):
            yield item


def unknown(worker: WorkerKind, kind: str, data: bytes) -> Raw:
    """A line of no known type; a long one says how long it is, and which file keeps all of it."""
    shown = data[:LONGEST].decode("utf-8", "replace")
    if len(data) > LONGEST:
        shown += (
            f"\n[{LONGEST:,} of {len(data):,} bytes;"
            f" the whole line is in {worker}.jsonl among the run's artifacts]"
        )
    return Raw(type=kind[:LONGEST], text=shown)


def without_gateway(said: str) -> str:
    """What a program says of an error, without our own gateway's address, where nobody can look."""
    return _GATEWAY.sub("", said)
