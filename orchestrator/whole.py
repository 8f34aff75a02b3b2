"""Files that are written whole or not at all, and folders that keep what was put into them."""

import os
from contextlib import suppress
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Replace a file in one step, on disk before this returns; an OSError leaves the old one."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync(path.parent)


def sync(folder: Path) -> None:
    """Make the names in a folder outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
