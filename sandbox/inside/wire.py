"""The frames of the channel, and pipes that never make their writer wait.

A frame is one byte for its kind, four for the number of its command, four for the length of what
follows. Those that end in "room" say how many bytes more may be sent: whoever sends within its room
never fills the other side's memory, so neither side ever has to stop reading.
"""

import os
import select
import struct
from collections import deque
from collections.abc import Sequence

HEADER = struct.Struct(">BII")
NUMBER = struct.Struct(">I")
LINE = struct.Struct(">II")
"""Between the server and a warden: bytes of the job, and of what a program is to remember."""
ENDING = struct.Struct(">Bi")

HELLO, OUT, ERR, INPUT_ROOM, ENDED, DONE = range(1, 7)
"""From the server; ENDED as soon as a command has ended, DONE after the last of its output."""
START, CALL, INPUT, ROOM, STOP, SIGNAL = range(16, 22)
"""To the server; START: a command; CALL: a program of ours; an empty INPUT ends the input; SIGNAL:
the number of one for a command's process group."""
EXITED, SIGNALLED, TIMED_OUT, STOPPED, KILLED, REFUSED = range(6)
"""How a command ended; KILLED: its reaper was, so nothing is known of it."""

PIECE = 1 << 16
"""Bytes of output in one frame, at most."""
ROOM_AT_FIRST = 4 << 20
"""Bytes of output of one command that may be under way."""
INPUT_AT_FIRST = 1 << 20
LONGEST = 16 << 20
"""Bytes of the longest frame that the server takes: a command's arguments."""


class Outlet:
    """Bytes on their way into a pipe, which takes them when it can."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.size = 0
        self._waiting: deque[memoryview] = deque()
        self._last = False

    def put(self, *pieces: bytes) -> None:
        """Write what can be written at once, and keep the rest."""
        if self.fd == -1:
            return
        written = 0 if self._waiting else self._write(pieces)
        size = sum(map(len, pieces))
        if written < size and self.fd != -1:
            self._waiting.extend(memoryview(piece) for piece in pieces if piece)
            self.size += size
            self._forget(written)

    def push(self) -> int:
        """Write as much as the pipe takes; how many bytes that was."""
        before = self.size
        while self._waiting and (written := self._write(list(self._waiting)[:64])):
            self._forget(written)
        if self._last and not self._waiting:
            self.close()
        return before - self.size

    def _write(self, pieces: Sequence[bytes | memoryview]) -> int:
        """How many bytes the pipe takes now; all is forgotten when nobody reads any more."""
        try:
            return os.writev(self.fd, pieces)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return 0

    def _forget(self, written: int) -> None:
        self.size -= written
        while written:
            first = self._waiting[0]
            if written < len(first):
                self._waiting[0] = first[written:]
                return
            written -= len(first)
            self._waiting.popleft()

    def finish(self) -> None:
        """Close it once everything is written."""
        self._last = True
        if not self._waiting and self.fd != -1:
            self.close()

    def close(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        self.size = 0
        if self.fd != -1:
            os.close(self.fd)
            self.fd = -1


def held_open(source: int) -> bool:
    """Whether a process can still write into this pipe."""
    poll = select.poll()
    poll.register(source, 0)
    return not poll.poll(0)
