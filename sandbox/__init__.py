"""Sealed containers: prepare an image for a repository, open a box on it, run commands in it."""

from sandbox.box import Box, open_box
from sandbox.engine import Engine, connect
from sandbox.files import FileError
from sandbox.images import BASE_IMAGE, Prepared, prepare
from sandbox.limits import Limits
from sandbox.preparation import Source
from sandbox.snapshot import Snapshot
from sandbox.stream import Completed, Exit, Line

__all__ = [
    "BASE_IMAGE",
    "Box",
    "Completed",
    "Engine",
    "Exit",
    "FileError",
    "Limits",
    "Line",
    "Prepared",
    "Snapshot",
    "Source",
    "connect",
    "open_box",
    "prepare",
]
