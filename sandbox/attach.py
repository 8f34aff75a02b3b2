"""The connection of one engine exec: bytes go in, frames come out, nothing piles up in between."""

import select
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from mmap import mmap
from typing import Any

from docker.api.client import APIClient

from sandbox.channel import Chunk
from sandbox.stream import Stream

PIECE = 1 << 16
HEADER = 8
STREAMS: dict[int, Stream] = {1: "stdout", 2: "stderr"}
NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Attached:
    """A started exec, read without threads and without docker-py's buffering.

    Writing and reading alternate on one socket as it is ready for them, so that a command that
    prints before it has read its input cannot block either side.
    """

    def __init__(
        self, api: APIClient, container: str, request: Mapping[str, Any], stdin: bytes | mmap
    ) -> None:
        self.id: str = api.exec_create(container, stdin=bool(stdin), **request)["Id"]
        self._door: Any = api.exec_start(self.id, socket=True)
        self._socket: Any = getattr(self._door, "_sock", self._door)
        self._socket.setblocking(False)
        self._early = self._read_ahead()
        self._unsent = memoryview(stdin)

    def _read_ahead(self) -> bytes:
        """What the HTTP client read beyond the response's header; without this it would be lost."""
        return bytes(self._door._response.raw._fp.fp.peek(1))

    def read(self, seconds: float) -> bytes | None:
        """What arrives next; b"" at the end, None when nothing came for so long."""
        if self._early:
            early, self._early = self._early, b""
            return early
        deadline = time.monotonic() + seconds
        while True:
            self._send()
            try:
                return bytes(self._socket.recv(PIECE))
            except NOT_YET:
                if not self._wait(deadline - time.monotonic()):
                    return None

    def _send(self) -> None:
        if not self._unsent:
            return
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent[:PIECE]) :]
        except NOT_YET:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._unsent = self._unsent[:0]  # the command ended without reading all of it
            return
        if not self._unsent:
            self._socket.shutdown(socket.SHUT_WR)

    def _wait(self, seconds: float) -> bool:
        writing = [self._socket] if self._unsent else []
        readable, writable, _ = select.select([self._socket], writing, [], max(0.0, seconds))
        return bool(readable or writable)

    def close(self) -> None:
        """Let go of the connection; this stops nothing in the container."""
        self._door._response.close()
        self._socket.close()
        self._door.close()


class Frames:
    """The engine's framing: one byte for the stream, three of zero, four of length, the bytes."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The frames that these bytes complete."""
        held = self._held + data
        while len(held) >= HEADER:
            end = HEADER + int.from_bytes(held[4:HEADER])
            if len(held) < end:
                break
            yield Chunk(STREAMS[held[0]], held[HEADER:end])
            held = held[end:]
        self._held = held
