"""The input of a command: all there from the beginning, or written while the command runs."""

import threading
from collections import deque
from collections.abc import Callable
from mmap import mmap

CAPACITY = 16 << 20
"""Bytes that wait for a command which does not read."""


class Pipe:
    """Where input is written, in any thread, for one command."""

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self._size = 0
        self._closed = False
        """Nothing more is written."""
        self._gone = False
        """Nothing more is read."""
        self._lock = threading.Lock()
        self._wake: Callable[[], None] = lambda: None

    @classmethod
    def of(cls, content: "bytes | mmap | Pipe") -> "Pipe":
        """The same when it is one; else one that holds all there is to be read."""
        if isinstance(content, Pipe):
            return content
        pipe = cls()
        pipe._put(content)
        pipe._closed = True
        return pipe

    def write(self, data: bytes) -> bool:
        """Give the command more to read.

        False when it will not: it has ended, its input was closed, or so much waits that it does
        not read.
        """
        with self._lock:
            if self._closed or self._gone or self._size + len(data) > CAPACITY:
                return False
            self._put(data)
        self._wake()
        return True

    def close(self) -> None:
        """The command finds the end behind what was written."""
        with self._lock:
            self._closed = True
        self._wake()

    # The channel's side

    def on_write(self, wake: Callable[[], None]) -> None:
        """Call whenever there is more; that may be before anything was."""
        self._wake = wake

    def take(self, most: int) -> memoryview:
        """The next bytes; none where none wait."""
        with self._lock:
            if not self._pieces:
                return memoryview(b"")
            first = self._pieces.popleft()
            piece, rest = first[:most], first[most:]
            if rest:
                self._pieces.appendleft(rest)
            self._size -= len(piece)
            return piece

    def give_back(self, rest: memoryview) -> None:
        """What was taken and could not be sent yet."""
        with self._lock:
            if rest and not self._gone:
                self._pieces.appendleft(rest)
                self._size += len(rest)

    @property
    def waits(self) -> bool:
        """Whether there is something to be sent."""
        return bool(self._pieces)

    @property
    def at_end(self) -> bool:
        """Whether all was taken and nothing more comes."""
        with self._lock:
            return self._closed and not self._pieces

    def drop(self) -> None:
        """Nobody reads any more."""
        self._wake = lambda: None
        with self._lock:
            self._gone = True
            self._pieces.clear()
            self._size = 0

    def _put(self, content: bytes | mmap) -> None:
        if len(content):
            self._pieces.append(memoryview(content))
            self._size += len(content)
