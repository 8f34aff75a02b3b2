"""The `[sandbox]` table: how much of the machine a run may use."""

import re
from typing import Literal

from msgspec import Struct

from orchestrator.task import Limits
from sandbox.limits import Limits as BoxLimits

_SMALLEST = {"memory": "64m", "file_size": "64m", "disk": "64m", "tmp": "1m"}
_LARGEST = "1024g"
_AFTER_WORK = 3600.0
"""Seconds a container outlives the work in it, so that the record can still be taken from it."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class SandboxSettings(Struct, frozen=True):
    """That table."""

    memory: str = "4g"
    cpus: float = 2.0
    pids: int = 1024
    file_size: str = "1g"
    """Of a single file."""
    disk: str = "20g"
    """Of all files that work writes outside of /tmp."""
    tmp: str = "1g"
    """Of /tmp; it is in memory and counts against it."""
    workspace: Literal["disk", "memory"] = "disk"
    runtime: str = ""
    """The OCI runtime, such as `runsc`; empty: the engine's default."""

    def __post_init__(self) -> None:
        for name, smallest in _SMALLEST.items():
            if not size(smallest) <= size(getattr(self, name)) <= size(_LARGEST):
                raise ValueError(f'{name} must be between "{smallest}" and "{_LARGEST}"')
        if not 0.1 <= self.cpus <= 1024:
            raise ValueError("cpus must be between 0.1 and 1024")
        if not 16 <= self.pids <= 1 << 22:
            raise ValueError("pids must be between 16 and 4194304")


def size(text: str) -> int:
    """Bytes of a size such as `512m` or `4g`; powers of 1024, as Docker reads them.

    Raises ValueError for anything else.
    """
    match = re.fullmatch(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", text.strip().lower(), re.ASCII)
    if match is None:
        raise ValueError(f'{text!r} is not a size: write it like "512m" or "4g"')
    return int(match[1]) * _UNITS[match[2]]


def box(settings: SandboxSettings, limits: Limits) -> BoxLimits:
    """The bounds of a container for work with these limits."""
    return BoxLimits(
        memory=size(settings.memory),
        cpus=settings.cpus,
        pids=settings.pids,
        file_size=size(settings.file_size),
        disk=size(settings.disk),
        tmp_size=size(settings.tmp),
        workspace=settings.workspace,
        seconds=max(BoxLimits().seconds, limits.seconds + _AFTER_WORK),
    )
