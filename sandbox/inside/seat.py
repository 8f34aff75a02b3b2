"""One command as the server sees it: its sub-reaper, and our ends of all their pipes.

The sub-reaper is forked before there is a command for it, so that a command need not wait for that.
"""

import array
import contextlib
import fcntl
import os
import termios
from typing import NamedTuple

from . import reaper
from .wire import (
    ERR,
    EXITED,
    INPUT_AT_FIRST,
    KILLED,
    OUT,
    REFUSED,
    ROOM_AT_FIRST,
    SIGNALLED,
    STOPPED,
    TIMED_OUT,
    Outlet,
    held_open,
)

DISCARD = ("/opt/orchestrator/bin/busybox", "cat")
LOST = b"[output of processes left behind is lost: no process is left to read it]\n"
WORDS = {
    "exited": EXITED,
    "signalled": SIGNALLED,
    "refused": REFUSED,
    "timed_out": TIMED_OUT,
    "stopped": STOPPED,
}


class Pipe(NamedTuple):
    out: int
    into: int


class Ending(NamedTuple):
    """How a command ended: one of the words of `wire`, and the status or signal."""

    how: int
    value: int


class Source:
    """One stream of a command's output."""

    def __init__(self, kind: int, fd: int) -> None:
        os.set_blocking(fd, False)
        self.kind = kind
        self.fd = fd
        self.left = -1
        """Bytes that still belong to the command, once it has ended; before that, -1."""

    @property
    def finished(self) -> bool:
        return self.left == 0

    def read(self, most: int) -> bytes:
        """What is there; nothing at the end, which is then noted."""
        try:
            data = os.read(self.fd, most if self.left < 0 else min(most, self.left))
        except BlockingIOError:
            return b""
        if not data:
            self.left = 0
        elif self.left > 0:
            self.left -= len(data)
        return data

    def end(self) -> None:
        """What is in the pipe now is the last that belongs to the command."""
        if self.left < 0:
            size = array.array("i", [0])
            fcntl.ioctl(self.fd, termios.FIONREAD, size)
            self.left = size[0]


class Seat:
    """A place for one command."""

    def __init__(self) -> None:
        pipes = [Pipe(*os.pipe()) for _ in range(5)]
        orders, answers, stdin, stdout, stderr = pipes
        server = os.getpid()
        try:
            self.pid = os.fork()
        except OSError:
            for pipe in pipes:
                os.close(pipe.out)
                os.close(pipe.into)
            raise
        if self.pid == 0:
            own = (stdin.out, stdout.into, stderr.into)
            _sit_down(own, orders.out, answers.into, server)
        for theirs in (orders.out, answers.into, stdin.out, stdout.into, stderr.into):
            os.close(theirs)
        os.set_blocking(answers.out, False)
        self.number = 0
        self.orders = Outlet(orders.into)
        self.answers = answers.out
        self.stdin = Outlet(stdin.into)
        self.sources = (Source(OUT, stdout.out), Source(ERR, stderr.out))
        self.room = ROOM_AT_FIRST
        """Bytes of output that the other side will take."""
        self.given = INPUT_AT_FIRST
        """Bytes of input that the other side may still send."""
        self.job = b""
        """As long as the command may have to be started anew."""
        self.early: list[bytes] = []
        """Input that came before the command had started."""
        self.started = False
        self.stopped = False
        self.ending: Ending | None = None
        self._said = b""
        self._known = Ending(KILLED, 0)

    def begin(self, number: int, job: bytes) -> None:
        """Hand over the job."""
        self.number = number
        self.job = job
        self.orders.put(job)
        self.orders.finish()

    def hear(self) -> str:
        """Read what the sub-reaper says; the last of it when the server has to do something."""
        try:
            said = os.read(self.answers, 4096)
        except BlockingIOError:
            return ""
        self._said += said
        *lines, self._said = self._said.split(b"\n")
        words = [line.decode().split() for line in lines]
        for word, *value in words:
            if word in WORDS:
                self._known = Ending(WORDS[word], int(value[0]) if value else 0)
        if not said:
            self.close_answers()
            self.ending = self._known
        return words[-1][0] if words else ""

    def go(self) -> None:
        """The command runs: give it the input that came meanwhile."""
        self.started, self.job = True, b""
        for data in self.early:
            self.feed(data)
        self.early.clear()

    def feed(self, data: bytes) -> None:
        """More input; none means that it has ended."""
        if not self.started:
            self.early.append(data)
        elif data:
            self.stdin.put(data)
        else:
            self.stdin.finish()

    def close_answers(self) -> None:
        if self.answers != -1:
            os.close(self.answers)
            self.answers = -1

    def end_sources(self) -> None:
        for source in self.sources:
            source.end()

    def leave(self) -> bytes:
        """Let go of all pipes; what to say when output of processes left behind is lost."""
        said = b""
        self.orders.close()
        self.stdin.close()
        self.close_answers()
        for source in self.sources:
            if held_open(source.fd) and not discard(source.fd):
                said = LOST
            os.close(source.fd)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
        return said


def discard(source: int) -> bool:
    """Leave a small program behind that reads the pipe as long as somebody prints into it.

    A process left behind would die at its next line otherwise.
    """
    null = os.open(os.devnull, os.O_RDWR)
    os.set_blocking(source, True)
    actions = [(os.POSIX_SPAWN_DUP2, source, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, null, number) for number in (1, 2)]
    try:
        os.posix_spawn(DISCARD[0], DISCARD, {}, file_actions=actions, setsid=True, setsigmask=())
    except OSError:  # no process to spare
        return False
    finally:
        os.close(null)
    return True


def _sit_down(own: tuple[int, int, int], orders: int, answers: int, server: int) -> None:
    """The sub-reaper's side: the command's pipes as its own streams, and nothing else open."""
    try:
        for number, fd in enumerate(own):
            os.dup2(fd, number)
        at = 3
        for kept in sorted((orders, answers)):
            os.closerange(at, kept)
            at = kept + 1
        os.closerange(at, 1 << 20)
        reaper.serve(orders, answers, server)
    finally:
        os._exit(1)
