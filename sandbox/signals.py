"""Signals for one command that runs in a sandbox."""

from collections.abc import Callable
from signal import Signals as Signal


class Signals:
    """The way to a command's process group, once it was asked for; works in any thread."""

    def __init__(self) -> None:
        self._way: Callable[[Signal], None] = lambda signal: None

    def send(self, signal: Signal) -> None:
        """Send it to the command and whatever it started in its own session.

        Nothing is sent before the command was asked for, or after its end. That it arrives is not
        promised: a process of the working user can have stopped who passes it on.
        """
        self._way(signal)

    # The channel's side

    def lead(self, way: Callable[[Signal], None]) -> None:
        """Send them this way."""
        self._way = way
