"""From chunks of bytes to lines."""

from collections.abc import Iterable, Iterator

from sandbox.channel import Chunk, Nothing
from sandbox.stream import Exit, Line, Stream

CAP = 1 << 20
"""Bytes of a line that are kept; what is longer is cut, so that a line cannot fill the memory."""


def lines(
    items: Iterable[Chunk | Exit | Nothing], cap: int = CAP
) -> Iterator[Line | Exit | Nothing]:
    """Each line as it becomes whole, then last lines without a newline, then the Exit.

    A line longer than `cap` bytes is cut.
    """
    splitters = {"stdout": Splitter("stdout", cap), "stderr": Splitter("stderr", cap)}
    for item in items:
        if isinstance(item, Chunk):
            yield from splitters[item.stream].feed(item.data)
            continue
        if isinstance(item, Exit):
            for splitter in splitters.values():
                yield from splitter.rest()
        yield item


class Splitter:
    """One stream's unfinished line. Only b"\\n" ends a line: U+2028 or a lone CR is content."""

    def __init__(self, stream: Stream, cap: int = CAP) -> None:
        self._stream = stream
        self._cap = cap
        self._held: list[bytes] = []
        """Joined once: a long line comes in hundreds of chunks."""
        self._size = 0
        """Bytes held."""
        self._skipping = False

    def feed(self, data: bytes) -> list[Line]:
        """The lines that these bytes complete, and a cut one as soon as it is too long."""
        if self._skipping:
            _, newline, data = data.partition(b"\n")
            self._skipping = not newline
        first, *others = data.split(b"\n")
        self._hold(first)
        found = []
        if others:
            *whole, last = others
            found = [self._line(self._taken()), *map(self._line, whole)]
            self._hold(last)
        if self._size > self._cap:
            found.append(self._line(self._taken()))
            self._skipping = True
        return found

    def rest(self) -> list[Line]:
        """The last line, when no newline ended it."""
        return [self._line(self._taken())] if self._size else []

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._size += len(data)

    def _taken(self) -> bytes:
        held, self._held, self._size = self._held, [], 0
        return b"".join(held)

    def _line(self, data: bytes) -> Line:
        return Line(self._stream, data[: self._cap], cut=len(data) > self._cap)
