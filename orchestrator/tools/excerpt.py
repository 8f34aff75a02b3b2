"""The start and the end of a long text, cut at line borders, with a count of what is missing."""

from collections import deque

from orchestrator.screen import count

_PIECE = 2_000
"""A longer line may be cut inside, after a multiple of this many characters."""
_MARKER = 250
"""Room kept for the line that tells what is missing."""


class Excerpt:
    """Takes a text of any size in pieces and keeps four fifths of its room for the start."""

    def __init__(self, limit: int) -> None:
        """`limit`: characters of the whole excerpt, the marker included."""
        self._room = limit - _MARKER
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._lines = 0
        self._missing_lines = 0
        self._missing_size = 0

    @property
    def cut(self) -> bool:
        """True when something of the text is missing."""
        return self._missing_size > 0

    def add(self, text: str) -> None:
        """Take the next part of the text: a line with its newline, or several."""
        for line in text.splitlines(keepends=True):
            for start in range(0, len(line), _PIECE):
                self._take(line[start : start + _PIECE])

    def text(self, kept_as: str) -> str:
        """The whole text when it fits; otherwise its ends, and where the rest was kept."""
        head, tail = "".join(self._head), "".join(self._tail)
        if not self.cut:
            return head + tail
        lines, size = count(self._lines, "line"), count(self._missing_size, "character")
        newline = "" if head.endswith("\n") else "\n"
        return (
            f"{head}{newline}[{self._missing_lines:,} of {lines} and "
            f"{size} left out here; the full text is kept outside the "
            f"sandbox as artifact {kept_as}]\n{tail}"
        )

    def _take(self, piece: str) -> None:
        self._lines += piece.endswith("\n")
        if not self._tail and self._head_size + len(piece) <= self._room * 4 // 5:
            self._head.append(piece)
            self._head_size += len(piece)
            return
        self._tail.append(piece)
        self._tail_size += len(piece)
        while self._tail_size > self._room - self._head_size:
            self._drop(self._tail.popleft())

    def _drop(self, piece: str) -> None:
        self._tail_size -= len(piece)
        self._missing_size += len(piece)
        self._missing_lines += piece.endswith("\n")
