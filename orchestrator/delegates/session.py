"""One program at work in a box: its lines as they come, with their clocks, and its end."""

import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from signal import Signals as Signal
from typing import BinaryIO, Literal

from orchestrator.task import Limits
from sandbox.box import Box
from sandbox.errors import SandboxError
from sandbox.gateway.asked import Asked
from sandbox.gateway.provider import Waiting
from sandbox.gateway.turn import Answered
from sandbox.pipe import Pipe
from sandbox.signals import Signals
from sandbox.stream import Exit, Line

Clock = Literal["silence", "turn", "run", "farewell", "handshake"]
HANDSHAKE = 30.0
"""Seconds in which a program answers that is spoken to, at the beginning."""
FAREWELL = 2.0
"""Seconds in which a program ends that was asked to in its own words, before it gets a signal."""
PATIENCE = {Signal.SIGINT: 4.0, Signal.SIGTERM: 2.0}
"""Signals in the order in which a program's process group is asked to end, and the seconds it has
for each; then every process of the sandbox is killed."""
KILL_SECONDS = 5.0
LONGEST = 32 << 20
"""Bytes of one line: an event can hold a whole file, and half of one is not JSON."""
LAST = 2_000
"""Lines that are read of a program which was asked to end; whoever says more is not listened to."""
LAST_BYTES = 64 << 20
"""Bytes of them: each is kept until somebody asks for it."""
READ_ON = 1.0
"""Seconds for which what has come is still read after a clock ran out: among it may be the line
that would have broken a silence. Whoever prints without end keeps no clock from being seen."""
KILLED = 137
"""The status of a program that was not waited for."""


@dataclass(frozen=True, slots=True)
class Silent:
    """A clock ran out."""

    clock: Clock


@dataclass(frozen=True, slots=True)
class Overdue:
    """An answer has begun before what its question told of was on record."""


Heard = Asked | Answered | Waiting
Item = Line | Exit | Heard | Silent | Overdue
Problem = SandboxError | OSError
"""Why no more can be read of it; OSError: what it prints cannot be kept."""


class Session:
    """A command whose lines, questions and answers come in one order; it ends with the block.

    The answer to a question is let in once all before it is done with, and once the lines that
    belong to it have come: a program can be quicker to ask than we are to read (measured with both:
    one question in forty comes before its line, by up to 6 ms on a busy machine).
    """

    def __init__(
        self,
        box: Box,
        limits: Limits,
        until: float,
        farewell: Callable[[], bool] = lambda: False,
        greeted: Callable[[], bool] = lambda: True,
        lively: Callable[[Line], bool] = lambda line: True,
    ) -> None:
        """The program has `until`, as the monotonic clock tells the time.

        `farewell` asks it to end in its own words, if it takes any; `greeted` says whether it has
        answered the first of ours, if it has to; `lively`, whether a line that was read breaks its
        silence.
        """
        self._box = box
        self._signals = Signals()
        self._limits = limits
        self._heard = self._answered = self._left = time.monotonic()
        self._until = until
        self._news: queue.SimpleQueue[Heard | None] = queue.SimpleQueue()
        """None for a piece of what the program printed: it is to be read."""
        self._reading = True
        """The piece at hand may hold more lines."""
        self._put_by: deque[Item | Problem] = deque()
        """What came while the program was awaited to end."""
        self._over = False
        """The program has ended, and all it said was read."""
        self._held: list[Asked] = []
        self._patient = True
        """Lines that belong to a question are waited for: so far, they have come."""
        self._closed = False
        self._farewell = farewell
        self._greeted = greeted
        self._lively = lively
        self._shake = time.monotonic() + min(HANDSHAKE, limits.silence)
        """When it is to have answered."""
        self._end: float | None = None
        """When it is to have ended by itself."""
        self._began = time.monotonic()
        self._begun = False
        """The command was asked for: until then, nothing is to be ended."""
        self._stopping = False
        self._last = 0
        """Lines that were read since it was asked to end."""
        self._last_bytes = 0
        """All bytes in them."""

    def await_end(self) -> None:
        """The program has done its work: from now on it has little time to end."""
        self._end = self._end or time.monotonic() + FAREWELL

    def tell(self, heard: Heard) -> None:
        """A question is asked, its answer ended, or is waited for. Works in any thread."""
        self._news.put(heard)
        if self._closed:
            self._leave()

    def items(
        self,
        command: Sequence[str],
        stdin: bytes | Pipe,
        env: Mapping[str, str],
        keep: BinaryIO,
        caught_up: Callable[[], bool],
    ) -> Generator[Item, None, None]:
        """Run a command and yield what happens, its Exit last; closing the generator ends it.

        Before the next item is asked for, all that the last one told of is done. `caught_up` says
        whether the lines have come that belong to the questions. After `Silent` the caller says
        `stop`. Raises SandboxError, OSError.
        """
        began = self._began = time.monotonic()
        seconds = max(1.0, self._until - began) + sum(PATIENCE.values()) + KILL_SECONDS
        lines = self._lines = self._box.watch(
            command,
            lambda: self._news.put(None),
            signals=self._signals,
            stdin=stdin,
            env=env,
            seconds=seconds,
            keep=keep,
            longest=LONGEST,
        )
        try:
            while True:
                item = self._next()
                if isinstance(item, Problem):
                    raise item
                yield item
                if isinstance(item, Exit):
                    return
                if isinstance(item, Line) and self._lively(item):
                    self._heard = max(self._heard, self._left)
                if self._held and (caught_up() or not self._patient) and self._let_in():
                    yield Overdue()
        finally:
            self.stop()
            lines.close()
            self._close()
            with suppress(SandboxError):
                self._box.sweep()  # of what it left running, too

    def stop(self) -> None:
        """Ask the program and all it started to end, ever more firmly; returns when it has."""
        self._stopping = True
        with suppress(SandboxError):  # a dead box ends its commands
            if self._over or (self._farewell() and self._ends_within(FAREWELL)):
                return
            for signal, seconds in PATIENCE.items():
                self._signals.send(signal)
                if self._ends_within(seconds):
                    return
            self._box.sweep()

    def _ends_within(self, seconds: float) -> bool:
        """Read on until the program has ended, or for so long; what came is told later."""
        until = time.monotonic() + seconds
        while not self._over and (item := self._awaited(until)):
            self._put_by.append(item)
        return self._over

    def _next(self) -> Item | Problem:
        asked_for = time.monotonic()
        self._forgive(asked_for - self._left)
        item = self._item(asked_for)
        self._left = time.monotonic()
        if self._held:
            self._forgive(self._left - asked_for)
        elif not isinstance(item, Silent | Line):
            self._heard = max(self._heard, self._left)
        if isinstance(item, Asked):
            self._held.append(item)
        elif isinstance(item, Answered):
            self._heard = self._answered = self._left
        elif isinstance(item, Waiting):  # it is ours, and no silence of the program's
            self._heard = self._left + item.seconds
            self._answered += item.seconds
        return item

    def _forgive(self, seconds: float) -> None:
        """Time that others took: no silence of the program's, nor of the model's."""
        self._heard += seconds
        self._answered += seconds
        self._shake += seconds

    def _item(self, now: float) -> Item | Problem:
        """What comes next, or the clock that runs out before."""
        due: dict[Clock, float] = {"run": self._until}
        if self._end is not None:
            due["farewell"] = self._end
        elif not self._greeted():
            due["handshake"] = self._shake
        elif not self._held:
            due["silence"] = self._heard + self._limits.silence
            due["turn"] = self._answered + self._limits.turn_seconds
        first, *others = sorted(due, key=due.__getitem__)
        until = min([due[first], *(asked.until for asked in self._held)])
        # Lines that never cease stop none of the clocks.
        for clock in () if self._stopping else (first, *others):
            if due[clock] + (READ_ON if clock in ("silence", "turn") else 0) <= now:
                return Silent(clock)
        if self._put_by:
            return self._put_by.popleft()
        if item := self._awaited(until):
            return item
        if until == due[first]:
            return Silent(first)
        self._patient = False
        self._let_in()
        return Overdue()

    def _awaited(self, until: float) -> Line | Exit | Problem | Heard | None:
        """What comes next; None where nothing has until then, or the program has ended."""
        while not self._over:
            if self._reading:
                if item := self._line():
                    return item
                self._reading = False
                if time.monotonic() >= until + READ_ON:
                    return None
            try:
                heard = self._news.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return None
            if heard:
                return heard
            self._reading = True
        return None

    def _line(self) -> Line | Exit | Problem | None:
        """What is next of the piece at hand, or how the program ended; None after it."""
        if self._stopping and not self._begun:  # reading on would start it
            self._over = True
            return Exit(KILLED, 0.0)
        self._begun = True
        try:
            item = next(self._lines)
        except StopIteration:  # an interrupt has ended it, and all of this with it
            self._over = True
            return None
        except (SandboxError, OSError) as error:
            self._over = True
            return error
        if isinstance(item, Line):
            if not self._stopping:
                return item
            self._last += 1
            self._last_bytes += len(item.data)
            if self._last <= LAST and self._last_bytes <= LAST_BYTES:
                return item
            # Closing ends it: what it had printed by then can take minutes to split into lines.
            self._lines.close()
            item = Exit(KILLED, time.monotonic() - self._began)
        self._over = isinstance(item, Exit)
        return item

    def _let_in(self) -> bool:
        """Let the answers in that are held; whether one of them has begun before."""
        held, self._held = self._held, []
        for asked in held:
            asked.let_in()
        return any(asked.late for asked in held)

    def _close(self) -> None:
        self._closed = True
        self._let_in()
        for item in self._put_by:
            if isinstance(item, Asked):
                item.let_in()
        self._leave()

    def _leave(self) -> None:
        """Let in whatever is in the queue: nobody takes note of it any more."""
        with suppress(queue.Empty):
            while True:
                if isinstance(item := self._news.get_nowait(), Asked):
                    item.let_in()
