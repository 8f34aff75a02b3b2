"""One program at work in a box: its lines as they come, with three clocks, and its end."""

import queue
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import BinaryIO, Literal

from orchestrator.task import Limits
from sandbox.box import Box
from sandbox.errors import SandboxError
from sandbox.gateway.provider import Waiting
from sandbox.gateway.turn import Answered
from sandbox.hardening import BUSYBOX
from sandbox.stream import Exit, Line

Clock = Literal["silence", "turn", "run"]
PATIENCE = {"INT": 4.0, "TERM": 2.0}
"""Signals in the order in which a program is asked to end, and the seconds it has for each; then
every process of the sandbox is killed."""
KILL_SECONDS = 5.0
LONGEST = 32 << 20
"""Bytes of one line: an event can hold a whole file, and half of one is not JSON."""


@dataclass(frozen=True, slots=True)
class Silent:
    """A clock ran out."""

    clock: Clock


Item = Line | Exit | Answered | Waiting | Silent


class Session:
    """A command whose lines and answers come in one order; it is ended with the block."""

    def __init__(self, box: Box, name: str, limits: Limits, until: float) -> None:
        """`name` is the program's; it has `until`, as the monotonic clock tells the time."""
        self._box = box
        self._name = name
        self._limits = limits
        self._heard = self._answered = time.monotonic()
        self._until = until
        self._items: queue.SimpleQueue[Item | BaseException] = queue.SimpleQueue()
        self._over = threading.Event()

    def tell(self, heard: Answered | Waiting) -> None:
        """An answer of a model ended, or is waited for. Works in any thread."""
        self._items.put(heard)

    def items(
        self, command: Sequence[str], stdin: bytes, env: Mapping[str, str], keep: BinaryIO
    ) -> Generator[Item, None, None]:
        """Run a command and yield what happens, its Exit last; closing the generator ends it.

        After `Silent` the caller says `stop`. Raises SandboxError.
        """
        thread = threading.Thread(target=self._run, args=(command, stdin, env, keep), daemon=True)
        thread.start()
        try:
            while True:
                item = self._next()
                if isinstance(item, BaseException):
                    raise item
                yield item
                if isinstance(item, Exit):
                    return
        finally:
            self.stop()
            thread.join()
            with suppress(SandboxError):
                self._box.sweep()  # of what it left running, too

    def stop(self) -> None:
        """Ask the program and all it started to end, ever more firmly; returns when it has."""
        with suppress(SandboxError):  # a dead box ends its commands
            for signal, seconds in PATIENCE.items():
                if self._over.is_set():
                    return
                self._box.run((BUSYBOX, "killall", f"-{signal}", self._name), seconds=10)
                if self._over.wait(seconds):
                    return
            self._box.sweep()

    def _next(self) -> Item | BaseException:
        due: dict[Clock, float] = {
            "run": self._until,
            "silence": self._heard + self._limits.silence,
            "turn": self._answered + self._limits.turn_seconds,
        }
        first = min(due, key=due.__getitem__)
        try:
            item = self._items.get(timeout=max(0.0, due[first] - time.monotonic()))
        except queue.Empty:
            return Silent(first)
        now = time.monotonic()
        self._heard = max(self._heard, now)
        if isinstance(item, Answered):
            self._heard = self._answered = now
        elif isinstance(item, Waiting):  # it is ours, and no silence of the program's
            self._heard = now + item.seconds
            self._answered += item.seconds
        return item

    def _run(
        self, command: Sequence[str], stdin: bytes, env: Mapping[str, str], keep: BinaryIO
    ) -> None:
        seconds = max(1.0, self._until - time.monotonic()) + sum(PATIENCE.values()) + KILL_SECONDS
        try:
            lines = self._box.stream(
                command, stdin=stdin, env=env, seconds=seconds, keep=keep, longest=LONGEST
            )
            with closing(lines):
                for item in lines:
                    if isinstance(item, Exit):
                        self._over.set()
                    self._items.put(item)
        except BaseException as error:  # it is raised again where the items are read
            self._items.put(error)
        finally:
            self._over.set()
