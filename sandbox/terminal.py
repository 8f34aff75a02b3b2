"""Interactive sessions: a program in the sandbox on a terminal, keys in, a screen out.

For programs that need one: a debugger, a prompt, an editor. A thread of its own reads each session
on, whatever its user does: bytes of an exec that nobody reads hold up all news of its container
(see `attach`). What comes faster than it can be drawn is skipped, in counted bytes.
"""

import contextlib
import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from docker.errors import APIError
from pexpect import EOF, TIMEOUT
from pexpect.socket_pexpect import SocketSpawn

from sandbox import keys
from sandbox.attach import NOT_YET
from sandbox.display import Display, Screen, Unshown
from sandbox.engine import Engine
from sandbox.errors import SandboxLostError
from sandbox.exec import GONE
from sandbox.program import Program

LARGEST = 500
"""Rows or columns of a screen, at most."""
IDLE = 1800.0
"""Seconds after which a session that nobody used is closed, usually."""
UNSENT = 1 << 16
"""Bytes of keys that a program has not taken yet, at most."""
SEARCHED = 4096
"""Characters in which an awaited text is looked for, besides what has just come."""
PIECE = 1 << 16
PAUSE = 0.005
"""Seconds between pieces of a flood: 13 MB a second is more than anybody reads."""
REST = 4.0
"""Drawing a flood takes at most one part in five of the time."""
START = 5.0
"""Seconds that a program may take to be started."""

Reason = Literal["found", "quiet", "time", "ended"]
"""Why waiting ended: a text came, nothing came for a while, the time was up, the program ended."""


class TerminalError(Exception):
    """What is wrong with a request, in a sentence for whoever asked, often a model."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to start, and where."""

    command: tuple[str, ...]
    rows: int
    columns: int
    cwd: str
    env: Mapping[str, str]
    idle: float
    """Seconds without use, after which it is closed."""


class Terminal:
    """One session. Its block closes it; so does the end of its sandbox, or `IDLE` without use."""

    def __init__(self, engine: Engine, container: str, number: int, request: Request) -> None:
        self.number = number
        self._program = Program(engine, container, secrets.token_hex(16))
        with self._program.losing():
            self._wire = _Wire(self._program, request)
        self._display = Display(request.rows, request.columns)
        self._changed = threading.Condition()
        self._unshown = Unshown()
        self._said = ""
        """What came since the last key, up to `SEARCHED`."""
        self._before = ""
        """The screen at the last key."""
        self._awaited: tuple[str, ...] = ()
        self._found = False
        self._came = 0.0
        self._idle = request.idle
        self._used = time.monotonic()
        self._over = False
        self._status: int | None = None
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()
        self._await_start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def ended(self) -> bool:
        """Whether the program, and with it all it started, has ended."""
        return self._over

    @property
    def status(self) -> int | None:
        """The program's exit status, 128 + N after signal N; None while it runs."""
        return self._status

    def send(self, text: str, *names: str) -> None:
        """Type a text, in which a newline is the Enter key, and press keys by their names.

        The names are those of `keys`. Raises TerminalError, and then nothing was typed.
        """
        application = self._display.application_keys
        codes = {name: keys.code(name, application=application) for name in names}
        if unknown := [name for name, code in codes.items() if code is None]:
            raise TerminalError(f"there is no key {unknown[0]!r}; the keys are {keys.KNOWN}")
        self._send(keys.typed(text) + b"".join(codes[name] or b"" for name in names))

    def wait(self, *texts: str, seconds: float = 10.0, quiet: float = 0.5) -> Reason:
        """Wait until one of the texts comes, or, without any, until nothing more comes.

        A text counts when it was printed after the last key, or stands on the screen and did not
        at the last key. What is typed counts, too, where the program echoes it. `quiet`: seconds
        in which nothing came. Raises SandboxLostError.
        """
        began = time.monotonic()
        deadline = began + seconds
        with self._changed:
            self._awaited = texts
            self._search("")
            while True:
                now = time.monotonic()
                self._used = now
                calm = max(self._came, began) + quiet
                if self._found:
                    return "found"
                if self._over:
                    break
                if not texts and now >= calm:
                    return "quiet"
                if now >= deadline:
                    return "time"
                self._changed.wait((deadline if texts else min(deadline, calm)) - now)
        self._program.require_sandbox()
        return "ended"

    def look(self) -> Screen:
        """The screen as a person would see it now, and what left it since the last look."""
        with self._changed:
            self._used = time.monotonic()
            return self._display.look()

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the screen; the program is told. Raises TerminalError."""
        check_size(rows, columns)
        with self._changed:
            self._display.resize(rows, columns)
        with contextlib.suppress(APIError), self._program.losing():  # it may have ended meanwhile
            self._program.api.exec_resize(self._program.id, height=rows, width=columns)

    def close(self) -> None:
        """Hang up, and end what does not end of that, with all that it started.

        Raises SandboxLostError.
        """
        try:
            if not self._over:
                self._program.stop()
        finally:
            self.leave()

    def leave(self) -> None:
        """Let go of the connection; this stops nothing in the container."""
        self._wire.hang_up()
        self._thread.join()
        self._wire.close()

    def _send(self, data: bytes) -> None:
        with self._changed:
            self._require_open()
            self._used = time.monotonic()
            self._said, self._before = "", self._display.shown()
            if not self._wire.send(data):
                raise TerminalError("the program does not take what was typed before: wait for it")

    def _require_open(self) -> None:
        if self._over:
            raise TerminalError(f"the program of session {self.number} has ended")

    def _await_start(self) -> None:
        """Wait for the first byte, by which `inside.terminal` says that it starts the program."""
        with self._changed:
            self._changed.wait_for(lambda: self._came or self._over, START)

    def _carry(self) -> None:
        """What the session's thread does."""
        frame = 0.0
        data: bytes | None = None
        while data != b"":
            data = self._wire.read(0.0 if self._unshown.pieces else self._idle_in())
            if data:
                self._unshown.add(data)
                if time.monotonic() < frame:
                    time.sleep(PAUSE)
                    continue
            if self._unshown.pieces:
                began = time.monotonic()
                self._show()
                frame = time.monotonic() + REST * (time.monotonic() - began)
            elif self._idle_in() <= 0:
                break
        self._end()

    def _idle_in(self) -> float:
        return self._used + self._idle - time.monotonic()

    def _show(self) -> None:
        with self._changed:
            skipped, data = self._unshown.take()
            if skipped:
                self._display.skip(skipped)
            text = self._display.feed(data)
            self._wire.send(self._display.answer())
            self._came = time.monotonic()
            self._search(text)
            self._changed.notify_all()

    def _search(self, more: str) -> None:
        said = self._said + more
        self._said = said[-SEARCHED:]
        shown = self._display.shown() if self._awaited else ""
        self._found = any(
            text in said or (text in shown and text not in self._before) for text in self._awaited
        )

    def _end(self) -> None:
        """Take the exit status, of a session that nobody used for long after ending it."""
        with contextlib.suppress(SandboxLostError, *GONE):
            if self._idle_in() <= 0:
                self._program.stop()
            self._status = self._program.await_exit()
        with self._changed:
            self._over = True
            self._changed.notify_all()


class _Wire:
    """The connection of one exec with a terminal; only one thread reads, any may send."""

    def __init__(self, program: Program, asked: Request) -> None:
        size = (str(asked.rows), str(asked.columns))
        variables = {"TERM": "linux", **asked.env}
        request = program.request(
            program.token, *size, asked.cwd, *asked.command, environment=variables
        )
        api = program.api
        program.id = api.exec_create(program.container, stdin=True, tty=True, **request)["Id"]
        self._door = cast(Any, api.exec_start(program.id, tty=True, socket=True))
        self._socket: Any = getattr(self._door, "_sock", self._door)
        self._socket.setblocking(False)
        # What the HTTP client read beyond the response's header would otherwise be lost.
        self._first: bytes = self._door._response.raw._fp.fp.peek(1)
        self._spawn = SocketSpawn(self._socket, maxread=PIECE, searchwindowsize=SEARCHED)
        self._unsent = b""
        self._lock = threading.Lock()
        self._bell, self._ring = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def send(self, data: bytes) -> bool:
        """Have the reading thread send this; False when too much waits already."""
        with self._lock:
            if len(self._unsent) + len(data) > UNSENT:
                return False
            self._unsent += data
        if data:
            os.write(self._ring, b"!")
        return True

    def read(self, seconds: float) -> bytes | None:
        """What comes next; b"" at the end, None when nothing came for so long."""
        if self._first:
            first, self._first = self._first, b""
            return first
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._deliver()
                return cast(bytes, self._spawn.read_nonblocking(PIECE, timeout=0))
            except (TIMEOUT, *NOT_YET):
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._poll(left)
            except (EOF, OSError):  # a connection that breaks is an end like another
                return b""

    def hang_up(self) -> None:
        """Make `read` come to its end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give everything back; once is enough."""
        if self._spawn.closed:
            return
        self._spawn.closed = True
        self._door._response.close()
        self._door.close()
        self._socket.close()
        os.close(self._bell)
        os.close(self._ring)

    def _deliver(self) -> None:
        with self._lock:
            while self._unsent:
                try:
                    self._unsent = self._unsent[self._socket.send(self._unsent) :]
                except NOT_YET:
                    return

    def _poll(self, seconds: float) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        poll.register(self._bell, select.POLLIN)
        poll.poll(1000 * seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self._bell, PIECE)


def check_size(rows: int, columns: int) -> None:
    """Raise TerminalError for a screen that is none."""
    for number, what in ((rows, "rows"), (columns, "columns")):
        if not 2 <= number <= LARGEST:
            raise TerminalError(f"{what}: expected 2 to {LARGEST}, got {number}")
