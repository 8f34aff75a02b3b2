"""Who made something on the engine, and whether that process still lives.

Engines are shared: by processes of one user, by users, by machines, and by containers that each
count their processes from 1. Only who counts them as we do can tell a dead owner from a live one.
"""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Literal

APP = "orchestrator"
MAKER = "orchestrator.maker"
"""The label of what outlives its owner once it is finished: images, toolboxes."""

PROCESSES = Path("/proc")
BOOT_ID = PROCESSES / "sys/kernel/random/boot_id"
MACHINE_ID = Path("/etc/machine-id")

Fate = Literal["lives", "dead", "unknown"]


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from every other one on any machine; empty where nothing tells."""

    host: str
    host_id: str
    """Machines made from one template share their name, and their boot says nothing of another."""
    host_user: str
    host_boot: str
    host_pids: str
    """The namespace that process ids are counted in: in a container others than on its host."""
    host_pid: str
    host_start: str
    """Clock ticks from boot to the start: process ids are given again."""

    @classmethod
    def of_this_process(cls) -> "Owner":
        pid = os.getpid()
        return cls(
            host=platform.node(),
            host_id=_machine(),
            host_user=str(os.getuid()),
            host_boot=_text(BOOT_ID),
            host_pids=_counted_in(),
            host_pid=str(pid),
            host_start=start_time(pid),
        )

    @classmethod
    def read(cls, labels: Mapping[str, str]) -> "Owner | None":
        """The owner of a container; None when it is nobody of ours, or says so in part only."""
        names = [field.name for field in fields(cls)]
        if labels.get("app") != APP or not all(name in labels for name in names):
            return None
        return cls(*(labels[name] for name in names))

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        """The maker of an image or a toolbox, as `MAKER` has it; None when it is nobody of ours."""
        words = text.split("|")
        return cls(*words) if len(words) == len(fields(cls)) else None

    @property
    def labels(self) -> dict[str, str]:
        """What a container, a network or a volume of this owner carries."""
        names = [field.name for field in fields(self)]
        return {"app": APP} | dict(zip(names, astuple(self), strict=True))

    @property
    def text(self) -> str:
        """The value of `MAKER`."""
        return "|".join(word.replace("|", "") for word in astuple(self))

    def fate(self) -> Fate:
        """Whether this owner lives, as far as this process can tell."""
        us = Owner.of_this_process()
        if (self.host, self.host_id, self.host_user) != (us.host, us.host_id, us.host_user):
            return "unknown"
        if self.host_boot != us.host_boot:
            return "dead"
        if self.host_pids != us.host_pids or not self.host_pid.isdecimal():
            return "unknown"
        pid = int(self.host_pid)
        return "lives" if _exists(pid) and self.host_start == start_time(pid) else "dead"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError, OverflowError):  # gone, or somebody else's by now
        return False
    return True


def start_time(pid: int) -> str:
    """When a process began, in clock ticks since boot; empty when it is gone or nothing tells."""
    try:
        facts = (PROCESSES / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # proc(5): field 22, counted after the command name, which may itself hold spaces and brackets.
    return facts.rpartition(")")[2].split()[19]


def _machine() -> str:
    """machine-id(5) asks not to show the id itself to others."""
    known = _text(MACHINE_ID)
    return hashlib.sha256(f"{APP} {known}".encode()).hexdigest()[:12] if known else ""


def _counted_in() -> str:
    try:
        return os.readlink(PROCESSES / "self/ns/pid")
    except OSError:
        return ""


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
