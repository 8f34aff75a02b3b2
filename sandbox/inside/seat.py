"""One command as the server sees it: its sub-reaper, and our ends of all their pipes.

The sub-reaper is forked before there is a command for it, so that a command need not wait for that.
"""

import array
import fcntl
import os
import signal
import socket
import termios
from typing import NamedTuple

from . import reaper
from .wire import (
    ERR,
    EXITED,
    INPUT_AT_FIRST,
    KILLED,
    LINE,
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


ending: set[int] = set()
"""Children of the server of which nobody wants to know any more."""


def reap() -> None:
    """Take note of those that have ended."""
    for pid in list(ending):
        if os.waitpid(pid, os.WNOHANG)[0]:
            ending.remove(pid)


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


class Warden:
    """A sub-reaper: a fork of ours, made before there is a command for it, as a fork takes longest.

    One under which nothing is left takes the next command. Each command has pipes of its own: what
    an earlier one handed on to other processes leads nowhere.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        server = os.getpid()
        try:
            self.pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if self.pid == 0:
            _sit_down(theirs, server)
        theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self.fd = ours.fileno()
        self._unsent = b""
        self._waking = False
        self._said = b""

    def order(self, job: bytes, memory: bytes, pipes: tuple[int, ...]) -> None:
        """Hand over a job with the command's ends of its pipes."""
        message = LINE.pack(len(job), len(memory)) + job + memory
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", pipes))
        try:
            self._unsent = message[self._socket.sendmsg([message], [rights]) :]
        except OSError:
            return  # it was killed, and will be heard to be

    @property
    def busy(self) -> bool:
        """Whether a part of the job still has to be sent."""
        return bool(self._unsent)

    def push(self) -> None:
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = b""
            return
        if self._waking and not self._unsent:
            reaper.kill(self.pid, signal.SIGTERM)  # wakes it, to find the wish

    def hear(self) -> list[list[str]] | None:
        """What it says, a word and a value in each line; None when it is gone."""
        try:
            said = self._socket.recv(4096)
        except BlockingIOError:
            return []
        except OSError:
            said = b""
        if not said:
            return None
        *lines, self._said = (self._said + said).split(b"\n")
        return [line.decode().split(" ", 1) for line in lines]

    def ask(self, wish: int) -> None:
        """Have it pass on a signal to its command, or end it (`STOP_WANTED`).

        It is said on the line, for signals come from anybody.
        """
        self._unsent += bytes((wish,))
        self._waking = True
        self.push()

    def leave(self) -> None:
        """Let it go: it ends when it finds nobody at the other end of its line."""
        self._socket.close()
        ending.add(self.pid)

    def signal(self) -> int:
        """Of one that is gone: the signal that ended it, or 0."""
        self._socket.close()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return max(0, -code)


class Seat:
    """A command, from its job to the last of its output."""

    def __init__(self, number: int, job: bytes, memory: bytes, warden: Warden) -> None:
        stdin, stdout, stderr = (Pipe(*os.pipe()) for _ in range(3))
        self.number = number
        self.job = job
        """As long as the command may have to be started anew."""
        self.warden: Warden | None = warden
        self.stdin = Outlet(stdin.into)
        self.sources = (Source(OUT, stdout.out), Source(ERR, stderr.out))
        self.room = ROOM_AT_FIRST
        """Bytes of output that the other side will take."""
        self.given = INPUT_AT_FIRST
        """Bytes of input that the other side may still send."""
        self.memory: bytes | None = None
        """What a program wants to find again."""
        self.early: list[bytes] = []
        """Input that came before the command had started."""
        self.started = False
        self.stopped = False
        self.asked = False
        """Its warden was asked for something, and may find that only after the command."""
        self.ending: Ending | None = None
        self._known: Ending | None = None
        theirs = (stdin.out, stdout.into, stderr.into)
        warden.order(job, memory, theirs)
        for fd in theirs:
            os.close(fd)

    def hear(self) -> tuple[str, Warden | None]:
        """What the warden wants of the server, if anything; and the warden when it is free again.

        The command has ended as soon as its warden is free or gone.
        """
        assert self.warden
        said = self.warden.hear()
        wish = ""
        for word, *value in said or ():
            if word in WORDS:
                self._known = Ending(WORDS[word], int(value[0]) if value else 0)
            elif word == "memory":
                self.memory = value[0].encode()
            elif word == "free":
                free, self.warden = self.warden, None
                self.ending = self._known
                return wish, free
            else:
                wish = word
        if said is None:
            number = self.warden.signal()
            self.warden = None
            how = KILLED if number in (0, signal.SIGKILL) else SIGNALLED
            self.ending = self._known or Ending(how, number)
        return wish, None

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

    def ask(self, wish: int) -> bool:
        """Ask the warden, see there; False when there is none any more."""
        if self.warden is None:
            return False
        self.asked = True
        self.warden.ask(wish)
        return True

    def end_sources(self) -> None:
        for source in self.sources:
            source.end()

    def leave(self) -> bytes:
        """Let go of all pipes; what to say when output of processes left behind is lost."""
        said = b""
        self.stdin.close()
        if self.warden:
            self.warden.leave()
        for source in self.sources:
            if held_open(source.fd) and not discard(source.fd):
                said = LOST
            os.close(source.fd)
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
        ending.add(
            os.posix_spawn(
                DISCARD[0], DISCARD, {}, file_actions=actions, setsid=True, setsigmask=()
            )
        )
    except OSError:  # no process to spare
        return False
    finally:
        os.close(null)
    return True


def _sit_down(own: socket.socket, server: int) -> None:
    """The warden's side: nothing of the server's is open in it but its end of the line."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.closerange(3, own.fileno())
        os.closerange(own.fileno() + 1, 1 << 20)
        reaper.serve(own, server)
    finally:
        os._exit(1)
