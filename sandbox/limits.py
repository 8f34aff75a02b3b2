"""How much of the machine one sandbox may use."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one sandbox; the engine enforces each of them."""

    memory: int = 4 << 30
    """Bytes, swap included."""
    cpus: float = 2.0
    pids: int = 1024
    file_size: int = 1 << 30
    """Bytes a single file may grow to."""
    tmp_size: int = 1 << 30
    """Bytes of the in-memory /tmp; they count against `memory`."""
    seconds: float = 4 * 3600.0
    """The container ends itself after this time, whatever became of its owner."""
