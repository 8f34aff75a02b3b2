"""What a program keeps of a session of its own: bytes to us, which only that program reads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SESSIONS = "sessions"
"""The folder, beside what a program printed, that holds what it keeps of its sessions."""
LARGEST = 64 << 20
"""Bytes of a transcript that are kept."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session that a program goes on with."""

    session: str
    """Its id."""
    parts: Mapping[str, bytes]
    """Its content by that id, and by theirs the sessions it may be a fork of: what Codex keeps of a
    fork begins where it was forked, and is nothing without the other one."""
    fork: bool = False
    """Go on under a new id: this one stays free for others who go on with it."""


def found(folder: Path) -> dict[str, bytes]:
    """The sessions that are kept in a folder, by their ids."""
    return {
        path.stem: path.read_bytes() for path in folder.glob("*.jsonl") if is_session(path.stem)
    }


def is_session(name: str) -> bool:
    """Whether this is an id as both programs make them, fit for a path and a command line."""
    return _ID.fullmatch(name) is not None
