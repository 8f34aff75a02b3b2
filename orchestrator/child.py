"""A process of ours beside this one, that answers questions about bytes which may be hostile.

It has no environment, no files of ours and a session of its own; frames go to and fro on a socket.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec

from splitters.frames import HEADER, head

_LONGEST = 64 << 20
"""Bytes of an answer that is listened to."""
_START = 30.0
"""Seconds until it is ready: a loaded machine may be slow to start Python."""
_DYING = 1.0
"""Seconds that it may take to die once it does not listen any more."""


class DiedError(Exception):
    """The process ended before it answered; the message tells how, and goes after its name."""


class Child:
    """Runs a Python program with our own import path as its last arguments.

    The program says an empty frame when it is ready, and then answers one question at a time.
    """

    def __init__(self, program: str, arguments: Sequence[str]) -> None:
        """Raises as `ask`."""
        self.answered = 0
        """How many questions so far."""
        self._line, theirs = socket.socketpair()
        path = [folder for folder in sys.path if folder]
        with theirs:
            self._process = subprocess.Popen(
                # -I keeps the environment and the folder we stand in out of it; no bytecode is
                # written, because the program may have to do without writing.
                [sys.executable, "-I", "-B", "-c", program, *arguments, *path],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        self._exchanged(b"", b"", _START)

    @property
    def id(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, question: Mapping[str, object], data: bytes, seconds: float) -> dict[str, Any]:
        """The answer; after any exception the process is no more.

        Raises DiedError, and TimeoutError after `seconds`.
        """
        said = self._exchanged(head(question, len(data)), data, seconds)
        self.answered += 1
        return said

    def end(self) -> None:
        """Kill the process and all that it may have started."""
        self._line.close()
        if self._process.poll() is None:  # not waited for: the id is still its own
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _exchanged(self, start: bytes, data: bytes, seconds: float) -> dict[str, Any]:
        until = monotonic() + seconds
        try:
            for content in (start, data):
                self._line.settimeout(_left(until))
                self._line.sendall(content)
            return self._received(until)
        except TimeoutError:
            self.end()
            raise
        except (OSError, EOFError):
            raise DiedError(self._fate()) from None
        except BaseException:
            self.end()  # what it says next would answer another question
            raise

    def _received(self, until: float) -> dict[str, Any]:
        size, _ = HEADER.unpack(self._bytes(HEADER.size, until))
        if size > _LONGEST:
            raise EOFError
        try:
            return msgspec.json.decode(self._bytes(size, until), type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            raise EOFError from None

    def _bytes(self, size: int, until: float) -> bytes:
        found = bytearray()
        while len(found) < size:
            self._line.settimeout(_left(until))
            piece = self._line.recv(min(size - len(found), 1 << 20))
            if not piece:
                raise EOFError
            found += piece
        return bytes(found)

    def _fate(self) -> str:
        try:
            ended = self._process.wait(_DYING)
        except subprocess.TimeoutExpired:
            return "was disturbed"
        finally:
            self.end()
        if ended >= 0:
            return f"ended with status {ended}"
        names = {each.value: each.name for each in signal.Signals}  # most real-time ones have none
        return f"was ended by {names.get(-ended, f'signal {-ended}')}"


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError
    return left
