"""How much of the machine one sandbox may use."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one sandbox. The kernel enforces them; `disk`, where it cannot, a watch of ours."""

    memory: int = 4 << 30
    """Bytes, swap included."""
    cpus: float = 2.0
    pids: int = 1024
    file_size: int = 1 << 30
    """Bytes a single file may grow to."""
    disk: int = 20 << 30
    """Bytes of all files that are not in the image or in memory."""
    tmp_size: int = 1 << 30
    """Bytes of the in-memory /tmp; they count against `memory`."""
    workspace: Literal["disk", "memory"] = "disk"
    """Where /workspace is. In memory it may fill half of `memory`, against which it counts."""
    seconds: float = 4 * 3600.0
    """The container ends itself after this time, whatever became of its owner."""


def shown(size: int) -> str:
    """Bytes as settings write them: `4g`, `512m`, `1000`."""
    for unit, bits in (("g", 30), ("m", 20), ("k", 10)):
        if size and not size % (1 << bits):
            return f"{size >> bits}{unit}"
    return str(size)
