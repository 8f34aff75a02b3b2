"""Sealed containers: prepare an image for a repository, open a box on it, run commands in it.

Names are loaded when they are first used: docker-py alone takes longer to import than most of what
does without it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.box import Box, open_box
    from sandbox.companion import Companion
    from sandbox.engine import Engine, connect
    from sandbox.files import FileError
    from sandbox.images import BASE_IMAGE, Prepared, prepare
    from sandbox.limits import Limits
    from sandbox.neighbour import Neighbour
    from sandbox.opening import open
    from sandbox.services import Services
    from sandbox.snapshot import Snapshot
    from sandbox.source import Source
    from sandbox.stream import Completed, Exit, Line

__all__ = [
    "BASE_IMAGE",
    "Box",
    "Companion",
    "Completed",
    "Engine",
    "Exit",
    "FileError",
    "Limits",
    "Line",
    "Neighbour",
    "Prepared",
    "Services",
    "Snapshot",
    "Source",
    "connect",
    "open",
    "open_box",
    "prepare",
]

_ROOMS = {
    "BASE_IMAGE": "images",
    "Box": "box",
    "Companion": "companion",
    "Completed": "stream",
    "Engine": "engine",
    "Exit": "stream",
    "FileError": "files",
    "Limits": "limits",
    "Line": "stream",
    "Neighbour": "neighbour",
    "Prepared": "images",
    "Services": "services",
    "Snapshot": "snapshot",
    "Source": "source",
    "connect": "engine",
    "open": "opening",
    "open_box": "box",
    "prepare": "images",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the room holds under this name
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"sandbox.{_ROOMS[name]}"), name)
