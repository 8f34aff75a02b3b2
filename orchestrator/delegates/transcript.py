"""What a program keeps of a session of its own: bytes to us, which only that program reads."""

import re
from dataclasses import dataclass

LARGEST = 64 << 20
"""Bytes of a transcript that are kept."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session that a program goes on with."""

    session: str
    """Its id."""
    content: bytes
    fork: bool = False
    """Go on under a new id: this one stays free for others who go on with it."""


def is_session(name: str) -> bool:
    """Whether this is an id as both programs make them, fit for a path and a command line."""
    return _ID.fullmatch(name) is not None
