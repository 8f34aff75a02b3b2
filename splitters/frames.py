"""How the splitters as a filter and their caller tell where a question or an answer ends."""

import json
import struct
from collections.abc import Mapping

HEADER = struct.Struct(">II")
"""Starts a frame: the size of its JSON, then that of the file behind it."""


def head(said: Mapping[str, object], length: int = 0) -> bytes:
    """A frame up to its file of `length` bytes."""
    content = json.dumps(said).encode("ascii")
    return HEADER.pack(len(content), length) + content
