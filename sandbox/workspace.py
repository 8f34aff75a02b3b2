"""The files of /workspace in memory: a tmpfs hides what the image has there, so it is copied in."""

import mmap
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

from sandbox import container
from sandbox.channel import Chunk
from sandbox.engine import Engine
from sandbox.errors import DiskFullError, ImageError
from sandbox.exec import ExecChannel
from sandbox.hardening import work_flags
from sandbox.limits import Limits, shown

SECONDS = 600.0


def fill(
    engine: Engine, to: str, image: str, limits: Limits, toolbox: str, labels: Mapping[str, str]
) -> None:
    """Copy /workspace from a fresh container of the image, where nothing hides it, into this one.

    The copy is read from a file that this process never looks into. Raises DiskFullError when the
    files do not fit into memory, ImageError.
    """
    plain = replace(limits, workspace="disk")
    flags = work_flags(image, plain, toolbox=toolbox, labels=labels)
    with tempfile.TemporaryFile(prefix="orchestrator-") as file:
        with container.running(engine, flags) as source:
            said = _carry(engine, source, "out", to=file)
        file.flush()
        if not said:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as archive:
                said = _carry(engine, to, "in", archive)
    if "No space left on device" in said:
        raise DiskFullError(
            f"The repository does not fit into memory (half of {shown(limits.memory)}): raise "
            '`memory`, or set `workspace = "disk"` under [sandbox].'
        )
    if said:
        raise ImageError(f"The repository cannot be copied into memory: {said}")


def _carry(
    engine: Engine,
    place: str,
    way: str,
    stdin: bytes | mmap.mmap = b"",
    to: BinaryIO | None = None,
) -> str:
    """Run our program in a container; what it complained of when it failed."""
    complaint = b""
    for item in ExecChannel(engine, place).call("workspace", way, stdin=stdin, seconds=SECONDS):
        if not isinstance(item, Chunk):
            return "" if item.ok else complaint.decode("utf-8", "replace").strip() or "no reason"
        if item.stream == "stdout" and to is not None:
            to.write(item.data)
        else:
            complaint += item.data
    raise AssertionError("a channel's last item is its Exit")
