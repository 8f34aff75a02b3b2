"""Watching a run: its events on stderr, and Ctrl-C."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

import click

from orchestrator.cli import say
from orchestrator.events import AnyEvent, ToolFinished, ToolStarted, Turn
from orchestrator.render import is_detail, lines, of
from orchestrator.screen import Ink, without_commands

Watch = Callable[[AnyEvent], None]


def watcher(quiet: bool) -> Watch:
    """Show events as they happen; nothing if `quiet`: the journal and the summary tell them."""
    told, obeyed = Told(say.stderr_ink(), streamed=True), say.obeyed()

    def watch(event: AnyEvent) -> None:
        if quiet:
            return
        for line in told.lines(event, time.time()):
            _write(without_commands(line) if obeyed else line)

    return watch


@dataclass(slots=True)
class Told:
    """The events of one run as lines with their time, in the order of the run."""

    ink: Ink
    streamed: bool = False
    """As of `render.lines`."""
    said: str = ""
    """The final answer that was told last."""
    asked: dict[str, ToolStarted] = field(default_factory=dict)
    """The calls that have not ended, by their ids."""
    call: str = ""
    """The one that was told last."""

    def lines(self, event: AnyEvent, when: float) -> Iterator[str]:
        """The lines of an event; the first with its time, unless it is a detail."""
        clock = time.strftime("%H:%M:%S", time.localtime(when))
        margin = " " * len(clock)
        shown = lines(event, self.ink, streamed=self.streamed, said=self.said)
        for number, line in enumerate([*self._of(event, bool(shown)), *shown]):
            yield f"{margin if number or is_detail(event) else self.ink.dim(clock)} {line}"
        if isinstance(event, Turn) and event.final:
            self.said = event.text

    def _of(self, event: AnyEvent, shown: bool) -> Iterator[str]:
        """Which call an error is of, where another one was told since."""
        if isinstance(event, ToolStarted):
            self.asked[event.call] = event
            self.call = event.call
        if isinstance(event, ToolFinished):
            asked = self.asked.pop(event.call, None)
            if asked and shown and event.call != self.call:
                self.call = event.call
                yield of(asked)


@contextmanager
def stoppable() -> Iterator[None]:
    """The first Ctrl-C, or SIGTERM, asks the run to stop; the second ends the program at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        _write_amid("stopping; what is recorded stays. Press Ctrl-C again to end at once.")
        raise KeyboardInterrupt

    before = [(each, signal.signal(each, stop)) for each in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for each, handler in before:
            signal.signal(each, handler)


def _write(line: str) -> None:
    """A reader of stderr that went away, or a full disk behind it, does not end the run."""
    with suppress(OSError):
        click.echo(line, file=sys.stderr)


def _write_amid(line: str) -> None:
    """As `_write`, where a signal came: the stream refuses to be written to amid another line."""
    with suppress(OSError, AttributeError):  # None where stderr was closed
        os.write(sys.stderr.fileno(), f"{line}\n".encode())
