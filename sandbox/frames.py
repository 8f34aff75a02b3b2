"""The frames of the channel as the host sees them: data, from a process that may be anybody's."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from sandbox.errors import CrossingError

HEADER = struct.Struct(">BII")
NUMBER = struct.Struct(">I")
ENDING = struct.Struct(">Bi")
ENGINE_HEADER = struct.Struct(">BxxxI")

HELLO, OUT, ERR, INPUT_ROOM, ENDED, DONE = range(1, 7)
START, CALL, INPUT, ROOM, STOP, SIGNAL = range(16, 22)
EXITED, SIGNALLED, TIMED_OUT, STOPPED, KILLED, REFUSED = range(6)
"""The words of `sandbox/inside/wire.py`; a test holds them to be the same."""

LENGTHS = {HELLO: 0, INPUT_ROOM: NUMBER.size, ENDED: ENDING.size, DONE: 0}
PIECE = 1 << 16
"""Bytes of output in one frame, at most."""
WINDOW = 4 << 20
"""Bytes of output of one command that wait for a slow consumer; then the command waits."""
INPUT_WINDOW = 1 << 20
COMPLAINT = 2000
"""Bytes that are kept of what the server, or the engine in its place, says outside of any frame."""
ENDINGS = range(6)
STATUSES = range(256)
MALFORMED = (
    "The sandbox's command channel sent something that is no frame: look at what ran in it, and "
    "start the run again."
)


class Frame(NamedTuple):
    """One frame, or a piece of one that carries output."""

    kind: int
    number: int
    content: bytes


def frame(kind: int, number: int, content: bytes | memoryview = b"") -> bytes:
    """The bytes of one frame."""
    return HEADER.pack(kind, number, len(content)) + content


class Unwrapping:
    """From what the engine sends to frames; output is passed on as it comes, never collected."""

    def __init__(self) -> None:
        self.complaint = b""
        self._engine_held = b""
        self._stream = 0
        self._left = 0
        self._held = b""
        self._kind = 0
        self._number = 0
        self._missing = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames in these bytes. Raises CrossingError for what is none of ours."""
        if self._engine_held:
            data, self._engine_held = self._engine_held + data, b""
        at, end = 0, len(data)
        view = memoryview(data)
        while at < end:
            if not self._left:
                if end - at < ENGINE_HEADER.size:
                    self._engine_held = data[at:]
                    return
                self._stream, self._left = ENGINE_HEADER.unpack_from(data, at)
                at += ENGINE_HEADER.size
            piece = view[at : at + self._left]
            at += len(piece)
            self._left -= len(piece)
            if self._stream == 1:
                yield from self._frames(piece)
            else:
                self.complaint = (self.complaint + piece)[-COMPLAINT:]

    def _frames(self, piece: memoryview) -> Iterator[Frame]:
        data = memoryview(self._held + piece) if self._held else piece
        at, end = 0, len(data)
        while at < end:
            if self._missing:
                content = bytes(data[at : at + self._missing])
                at += len(content)
                self._missing -= len(content)
                yield Frame(self._kind, self._number, content)
                continue
            if end - at < HEADER.size:
                break
            kind, number, length = HEADER.unpack_from(data, at)
            if kind in (OUT, ERR) and 0 < length <= PIECE:
                self._kind, self._number, self._missing = kind, number, length
                at += HEADER.size
            elif LENGTHS.get(kind) != length:
                self.complaint = self.complaint or bytes(piece[:COMPLAINT])
                raise CrossingError(MALFORMED)
            elif end - at < HEADER.size + length:
                break
            else:
                yield Frame(kind, number, bytes(data[at + HEADER.size :][:length]))
                at += HEADER.size + length
        self._held = bytes(data[at:])
