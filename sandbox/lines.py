"""From chunks of bytes to lines."""

from collections.abc import Iterable, Iterator

from sandbox.channel import Chunk
from sandbox.stream import Exit, Line, Stream

CAP = 1 << 20
"""Bytes of a line that are kept; what is longer is cut, so that a line cannot fill the memory."""


def lines(items: Iterable[Chunk | Exit]) -> Iterator[Line | Exit]:
    """Each line as it becomes whole, then last lines without a newline, then the Exit."""
    splitters = {"stdout": Splitter("stdout"), "stderr": Splitter("stderr")}
    for item in items:
        if isinstance(item, Chunk):
            yield from splitters[item.stream].feed(item.data)
            continue
        for splitter in splitters.values():
            yield from splitter.rest()
        yield item


class Splitter:
    """One stream's unfinished line. Only b"\\n" ends a line: U+2028 or a lone CR is content."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[Line]:
        """The lines that these bytes complete, and a cut one as soon as it is too long."""
        if self._skipping:
            _, newline, data = data.partition(b"\n")
            self._skipping = not newline
        *whole, self._held = (self._held + data).split(b"\n")
        found = [self._line(line) for line in whole]
        if len(self._held) > CAP:
            found.append(self._line(self._held))
            self._held, self._skipping = b"", True
        return found

    def rest(self) -> list[Line]:
        """The last line, when no newline ended it."""
        held, self._held = self._held, b""
        return [self._line(held)] if held else []

    def _line(self, data: bytes) -> Line:
        return Line(self._stream, data[:CAP], cut=len(data) > CAP)
