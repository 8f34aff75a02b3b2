"""One connection to the server in a sandbox, and the conversations that it carries at once."""

import contextlib
import queue
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from docker.api.client import APIClient

from sandbox.attach import NOT_YET, opened
from sandbox.channel import Chunk
from sandbox.errors import CrossingError, SandboxLostError
from sandbox.frames import (
    DONE,
    ENDED,
    ENDING,
    ENDINGS,
    ERR,
    HELLO,
    INPUT,
    INPUT_ROOM,
    INPUT_WINDOW,
    MALFORMED,
    NUMBER,
    OUT,
    PIECE,
    ROOM,
    SIGNAL,
    STATUSES,
    STOP,
    WINDOW,
    Frame,
    Unwrapping,
    frame,
)
from sandbox.pipe import Pipe
from sandbox.stream import Stream

RECEIVED = 1 << 18
STREAMS: dict[int, Stream] = {OUT: "stdout", ERR: "stderr"}


INPUT_SECONDS = 60.0
"""In which a server that asked for more input has to take it."""


class Conversation:
    """One command: what came of it and was not taken yet, and the input that it has not got."""

    def __init__(self, number: int, stdin: Pipe, ready: Callable[[], None] | None) -> None:
        """`ready` is called, in the thread that receives, for each piece and for the end."""
        self.number = number
        self._ready = ready or (lambda: None)
        self.feeding = threading.Lock()
        """Held from the moment that input is taken until it is sent: it has an order."""
        self.ending: tuple[int, int] | None = None
        """How it ended, and the status or signal; None while it runs."""
        self.ended = 0.0
        """When that was, on the monotonic clock."""
        self.done = False
        """All its output has come; perhaps it was not taken yet."""
        self.over = False
        """Nothing more comes, because it is done or because the connection broke."""
        self._stdin = stdin
        self._room = INPUT_WINDOW
        self._complete = False
        self._deaf = False
        self._chunks: queue.SimpleQueue[Chunk | None] = queue.SimpleQueue()
        """None after the last one."""
        self._received = self._taken = 0
        """Bytes, each counted by one thread alone."""

    def hear(self, told: Frame) -> None:
        """Note what the server says. Raises CrossingError when it cannot be."""
        if told.kind in STREAMS:
            self._keep(Chunk(STREAMS[told.kind], told.content))
        elif told.kind == ENDED:
            self.ended = time.monotonic()
            self.ending = _ending(told.content)
        elif told.kind == DONE and self.ending:
            self.done = True
            self.break_off()
        else:
            raise CrossingError(MALFORMED)

    def _keep(self, chunk: Chunk) -> None:
        if self._deaf:
            return
        self._received += len(chunk.data)
        if self._received - self._taken > WINDOW + PIECE:
            raise CrossingError(MALFORMED)
        self._chunks.put(chunk)
        self._ready()

    def break_off(self) -> None:
        """Nothing more comes."""
        self.over = True
        self._chunks.put(None)
        self._ready()

    def take(self, deadline: float) -> Chunk | None:
        """The next piece of output; None at the end, and when none came before the deadline."""
        try:
            chunk = self._chunks.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        if chunk:
            self._taken += len(chunk.data)
        else:
            self._chunks.put(None)  # whoever asks again is told again
        return chunk

    def await_done(self, seconds: float) -> bool:
        """Throw away what comes until all has; False when that takes longer."""
        self._deaf = True
        deadline = time.monotonic() + seconds
        while self.take(deadline):
            pass
        return self.done

    def input(self, more: int = 0) -> bytes:
        """Frames of as much input as there is room for; after the last of it, its end."""
        self._room += more
        pieces = []
        while self._room > 0 and (piece := self._stdin.take(min(PIECE, self._room))):
            self._room -= len(piece)
            pieces.append(frame(INPUT, self.number, piece))
        if self._stdin.at_end and not self._complete:
            self._complete = True
            pieces.append(frame(INPUT, self.number))
        return b"".join(pieces)

    def forget(self) -> None:
        """No more input is sent."""
        self._complete = True
        self._stdin.drop()


def _ending(content: bytes) -> tuple[int, int]:
    how, value = ENDING.unpack(content)
    if how not in ENDINGS or value not in STATUSES:
        raise CrossingError(MALFORMED)
    return how, value


class Connection:
    """The exec in which the server runs, with a thread that receives whatever it sends."""

    def __init__(self, api: APIClient, container: str, request: Mapping[str, Any]) -> None:
        self.malformed: CrossingError | None = None
        self._opened = opened(api, container, request, stdin=True)
        self._socket: Any = self._opened.socket
        self._talks: dict[int, Conversation] = {}
        self._numbers = 0
        self._frames = Unwrapping()
        self._ready = threading.Event()
        self.over = False
        """Whether it has ended."""
        self.lost: SandboxLostError | None = None
        """Why the container is dead, when that was found to be the reason."""
        self._sending = threading.Lock()
        self._plain = type(self._socket) is socket.socket
        if self._plain:  # whoever receives waits in the one call that also reads
            self._socket.setblocking(True)
        # An SSL object must not be used by two threads at once.
        tls = isinstance(self._socket, ssl.SSLSocket)
        self._using: Any = threading.Lock() if tls else contextlib.nullcontext()
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    @property
    def complaint(self) -> bytes:
        """What came outside of any frame: the engine's or Python's own words."""
        return self._frames.complaint

    def greeted(self, seconds: float) -> bool:
        """Whether the server says within this time that it is there."""
        return self._ready.wait(seconds) and not self.over

    def begin(
        self,
        kind: int,
        job: bytes,
        stdin: Pipe,
        ready: Callable[[], None] | None,
        deadline: float,
    ) -> Conversation | None:
        """START or CALL; None when the connection was over before anything was sent."""
        with self._sending:
            if self.over:
                return None
            self._numbers += 1
            talk = self._talks[self._numbers] = Conversation(self._numbers, stdin, ready)
        with talk.feeding:
            stdin.on_write(lambda: self._feed(talk))
            self._send(frame(kind, talk.number, job) + talk.input(), deadline)
        return talk

    def give_room(self, talk: Conversation, size: int, deadline: float) -> None:
        """Let the server send so much more output of a command."""
        self._send(frame(ROOM, talk.number, NUMBER.pack(size)), deadline)

    def signal(self, talk: Conversation, number: int, seconds: float) -> None:
        """Send a signal to the process group of a command; one that has ended gets none."""
        if not talk.ending:
            sent = frame(SIGNAL, talk.number, NUMBER.pack(number))
            self._send(sent, time.monotonic() + seconds)

    def stop(self, talk: Conversation, seconds: float) -> bool:
        """End a command and all it started; whether that was done within this time."""
        if not talk.over:
            self._send(frame(STOP, talk.number), time.monotonic() + seconds)
        return talk.await_done(seconds)

    def forget(self, talk: Conversation) -> None:
        """Nobody listens to this command any more."""
        self._talks.pop(talk.number, None)
        talk.forget()

    def close(self) -> None:
        """Hang up; the server ends what runs."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _receive(self) -> None:
        try:
            data = self._opened.first or self._read()
            while data:
                for told in self._frames.feed(data):
                    self._hear(told)
                data = self._read()
        except CrossingError as error:
            self.malformed = error
        except OSError:
            pass  # an end like another: the container's state tells what it was
        finally:
            self._end()

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes whoever waits to send
        with self._sending:
            self.over = True
            self._opened.close()
        self._ready.set()
        for talk in list(self._talks.values()):
            talk.break_off()

    def _hear(self, told: Frame) -> None:
        if told.kind == HELLO:
            self._ready.set()
        elif talk := self._talks.get(told.number):
            if told.kind == INPUT_ROOM:
                self._feed(talk, NUMBER.unpack(told.content)[0])
            else:
                talk.hear(told)

    def _feed(self, talk: Conversation, more: int = 0) -> None:
        """Send what a command may read, now that there is more of it, or of the room for it."""
        with talk.feeding:
            if data := talk.input(more):
                self._send(data, time.monotonic() + INPUT_SECONDS)

    def _read(self) -> bytes:
        if self._plain:
            return bytes(self._socket.recv(RECEIVED))
        while True:
            try:
                with self._using:
                    return bytes(self._socket.recv(RECEIVED))
            except NOT_YET:
                _await(self._socket, select.POLLIN, None)

    def _send(self, data: bytes, deadline: float) -> None:
        """Send all of it; the connection ends when it takes that too slowly."""
        left = memoryview(data)
        flags = socket.MSG_DONTWAIT if self._plain else 0
        if not self._sending.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return  # whoever is sending will be too late as well
        try:
            while left and not self.over:
                try:
                    with self._using:
                        left = left[self._socket.send(left[:RECEIVED], flags) :]
                except NOT_YET:
                    if not _await(self._socket, select.POLLOUT, deadline):
                        self._socket.shutdown(socket.SHUT_RDWR)  # half a frame may be out
        except OSError:
            return  # the thread that receives will notice
        finally:
            self._sending.release()


def _await(connection: Any, event: int, deadline: float | None) -> bool:  # noqa: ANN401 - a socket
    poll = select.poll()  # not select(), which knows only the first 1024 descriptors
    poll.register(connection, event)
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    return bool(poll.poll(left))
