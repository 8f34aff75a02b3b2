"""A check of a change, made on what the host computed from the recorded trees."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from orchestrator.outcome import Finding
from orchestrator.patch import Entry


class Blobs(Protocol):
    """Contents of the change, read only on demand and only up to a cap."""

    def size(self, blob: str) -> int:
        """Bytes of the blob, without reading it."""
        ...

    def read(self, blob: str) -> bytes:
        """The blob's bytes; only the first 16 MiB of a larger one."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """A change as the host sees it: raw entries, never diff text."""

    entries: tuple[Entry, ...]
    blobs: Blobs
    folders: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    """The new tree's names in each folder into which a path was added; `b""` is the root."""


class Guardrail(Protocol):
    """One family of rules."""

    def __call__(self, difference: Difference) -> Iterator[Finding]:
        """Yield what is wrong with the change; nothing when all is well."""
        ...
