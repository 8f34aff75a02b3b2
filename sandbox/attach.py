"""The connection of one engine exec: bytes go in, frames come out."""

import contextlib
import select
import socket
import ssl
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from docker.api.client import APIClient

from sandbox.channel import Chunk
from sandbox.pipe import Pipe
from sandbox.stream import Stream

PIECE = 1 << 16
BACKLOG = 16 << 20
"""Bytes that wait for a slow consumer; beyond them the command has to wait."""
HEADER = 8
STREAMS: dict[int, Stream] = {1: "stdout", 2: "stderr"}
NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Opened(NamedTuple):
    """A started exec and the connection it hangs on, without docker-py's buffering."""

    id: str
    door: Any
    socket: Any
    first: bytes
    """What the HTTP client read beyond the response's header; would otherwise be lost."""

    def close(self) -> None:
        self.door._response.close()
        self.door.close()
        self.socket.close()


def opened(api: APIClient, container: str, request: Mapping[str, Any], *, stdin: bool) -> Opened:
    """Start an exec; its socket does not block."""
    started: str = api.exec_create(container, stdin=stdin, **request)["Id"]
    door = cast(Any, api.exec_start(started, socket=True))
    connection = getattr(door, "_sock", door)
    connection.setblocking(False)
    return Opened(started, door, connection, door._response.raw._fp.fp.peek(1))


class Attached:
    """A started exec, carried by a thread of its own.

    The thread reads on while the consumer pauses: with Docker 20.10 a command that has ended with
    about 1 MB unread stops all news of its container, so that whatever the consumer runs meanwhile
    would never end. Writing and reading alternate as the socket is ready for them, so a command
    that prints before it has read its input blocks neither side.
    """

    def __init__(
        self, api: APIClient, container: str, request: Mapping[str, Any], stdin: Pipe
    ) -> None:
        self._sent = stdin.at_end
        """All input, and its end."""
        self._opened = opened(api, container, request, stdin=not self._sent)
        self.id = self._opened.id
        self._socket = self._opened.socket
        self._stdin = stdin
        self._bell, self._rung = socket.socketpair()
        self._rung.setblocking(False)
        stdin.on_write(self._ring)
        self._backlog = Backlog()
        self._backlog.put(self._opened.first)
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def read(self, seconds: float) -> bytes | None:
        """What arrives next; b"" at the end, None when nothing came for so long."""
        return self._backlog.take(seconds)

    def close(self) -> None:
        """Let go of the connection; this stops nothing in the container."""
        self._backlog.end()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._stdin.drop()
        self._bell.close()
        self._rung.close()
        self._opened.close()

    def _carry(self) -> None:
        # A connection that breaks is an end like another: the exec's status tells what it was.
        with contextlib.suppress(OSError):
            while (data := self._receive()) and self._backlog.put(data):
                pass
        self._backlog.end()

    def _receive(self) -> bytes:
        while True:
            self._send()
            try:
                return bytes(self._socket.recv(PIECE))
            except NOT_YET:
                self._wait()

    def _send(self) -> None:
        if self._sent:
            return
        piece = self._stdin.take(PIECE)
        try:
            if piece:
                self._stdin.give_back(piece[self._socket.send(piece) :])
        except NOT_YET:
            self._stdin.give_back(piece)
            return
        except (BrokenPipeError, ConnectionResetError):
            self._stdin.drop()  # the command ended without reading all of it
            self._sent = True
            return
        if self._stdin.at_end:
            self._sent = True
            self._socket.shutdown(socket.SHUT_WR)

    def _ring(self) -> None:
        """Wake the thread, for there is more to be sent."""
        with contextlib.suppress(OSError):  # it has been woken already, or is not there any more
            self._bell.send(b"\0", socket.MSG_DONTWAIT)

    def _wait(self) -> None:
        poll = select.poll()  # not select(), which knows only the first 1024 descriptors
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._stdin.waits else 0))
        poll.register(self._rung, select.POLLIN)
        poll.poll()
        with contextlib.suppress(BlockingIOError):
            self._rung.recv(PIECE)


class Backlog:
    """Bytes between the thread that receives and the one that consumes, bounded by their size."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._changed = threading.Condition()

    def put(self, piece: bytes) -> bool:
        """Add when there is room; False when nobody will take it any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < BACKLOG or self._ended)
            if piece and not self._ended:
                self._pieces.append(piece)
                self._size += len(piece)
                self._changed.notify_all()
            return not self._ended

    def take(self, seconds: float) -> bytes | None:
        """The next piece; b"" after the last one, None when none came for so long."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._pieces or self._ended, max(0.0, seconds)):
                return None
            piece = self._pieces.popleft() if self._pieces else b""
            self._size -= len(piece)
            self._changed.notify_all()
            return piece

    def end(self) -> None:
        """No more pieces come, or nobody takes them."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()


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
