"""What a repository says to whoever works on it: AGENTS.md and its like, of the base commit."""

import posixpath
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.committed import Committed, File, shown
from orchestrator.prompts import quoted
from orchestrator.sources import FOREIGN

ROOT = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CONTRIBUTING.md")
NESTED = ("AGENTS.md", "CLAUDE.md")
LONGEST = 12_000
"""Characters of one document."""
ROOM = 36_000
"""Characters of all together: each turn pays for them."""
MOST = 100
"""Documents that are looked at."""
TRUNCATED = "[truncated]"
_UNSEEN = {"Cc", "Cf", "Co", "Cs"}
"""Of what nobody who reviews the file can see, only the ends of lines and tabs are kept."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """The documents as a model is shown them."""

    text: str = ""
    """Titles, and behind `| ` each line of the documents; empty where there is none."""
    warnings: tuple[str, ...] = ()
    """What is left out, in a sentence each."""


def instructions(committed: Committed) -> Instructions:
    """Those of the root first, then those of folders, the ones nearest the top first.

    Raises GitError.
    """
    candidates = _candidates(committed)
    chosen = list({file.blob: file for file in reversed(candidates)}.values())[::-1]
    contents = committed.read(chosen[:MOST])
    parts: list[str] = []
    left_out = [file.path for file in chosen[MOST:]]
    room = ROOM
    for file in chosen[:MOST]:
        text = _readable(contents.get(file.path, b""))
        if file.path not in contents or (size := min(len(text), LONGEST)) > room:
            left_out.append(file.path)
        elif text:
            parts.append(f"{_title(file.path)}\n{quoted(text)}")
            room -= size
    links = (said for path, said in committed.left_out.items() if _is_named(path))
    return Instructions("\n\n".join(parts), (*links, *_too_much(left_out)))


def _candidates(committed: Committed) -> Sequence[File]:
    nested = sorted(
        (path.count("/"), path) for path in committed.files if path not in ROOT and _is_named(path)
    )
    paths = (*(path for path in ROOT if path in committed.files), *(path for _, path in nested))
    return [committed.files[path] for path in paths]


def _is_named(path: str) -> bool:
    return path in ROOT or (posixpath.basename(path) in NESTED and not FOREIGN.search(path))


def _readable(content: bytes) -> str:
    """The text that a person sees, up to its limit."""
    text = content.decode("utf-8-sig", "replace").strip()
    text = "".join(char for char in text if char in "\t\n\r" or not _is_unseen(char))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n{TRUNCATED}"


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN


def _title(path: str) -> str:
    folder = posixpath.dirname(path)
    below = f", for the files in {shown(folder)}" if folder not in ("", ".claude") else ""
    return f"{shown(path)}{below}:"


def _too_much(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        names = ", ".join(map(shown, left_out[:5]))
        more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        yield f"The worker is not told what is in {names}{more}: together that is too long."
