"""What was refused on its way out: each host once, with how often and what would allow it."""

import threading
from dataclasses import dataclass

from sandbox.gateway.hosts import Place

TOLD = 200
"""Hosts that are told apart; a program can invent any number."""

NO_REMEDY = "nothing"
"""In the place of a setting: there is none that would allow the host."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A host that something in the sandbox asked for in vain."""

    host: str
    """With its port."""
    count: int
    remedy: str
    """The setting that would allow it."""


class Refusals:
    """Counts by host. Works in any thread."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def add(self, place: Place, remedy: str) -> None:
        """Count one more request for a host."""
        key = (str(place), remedy)
        with self._lock:
            if key not in self._counts and len(self._counts) >= TOLD:
                key = ("more hosts", "a list that names them")
            self._counts[key] = self._counts.get(key, 0) + 1

    def told(self) -> tuple[Refused, ...]:
        """All hosts so far, in the order of their first requests."""
        with self._lock:
            return tuple(Refused(host, n, remedy) for (host, remedy), n in self._counts.items())
