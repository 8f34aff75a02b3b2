"""Sealed containers: prepare an image for a repository, open a box on it, run commands in it."""

from sandbox.box import Box, open_box
from sandbox.engine import Engine, connect
from sandbox.limits import Limits
from sandbox.stream import Completed, Exit, Line

__all__ = ["Box", "Completed", "Engine", "Exit", "Limits", "Line", "connect", "open_box"]
