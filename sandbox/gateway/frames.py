"""Server-sent events read beside their stream, without holding any of it back.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

import json
import re
from collections.abc import Iterator
from typing import Any

FRAME_CAP = 16 << 20
"""Bytes of one event that are looked at; a longer one is passed on unread."""

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class Frames:
    """Cuts the pieces of a stream where events end."""

    def __init__(self) -> None:
        self._open = b""
        self.unread = 0
        """Bytes of events that were too long to be looked at."""

    @property
    def between(self) -> bool:
        """Whether the last event is whole: something of ours may follow."""
        return not self._open

    def cut(self, data: bytes) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
        """`data` in order and whole, cut behind each end of an event, with that event."""
        before = len(self._open)
        text = self._open + data
        start, sent = 0, before
        for end in _END.finditer(text, max(0, before - 3)):
            self._open = b""
            yield text[sent : end.end()], _value(text[start : end.end()])
            start = sent = end.end()
        self._open = text[start:]
        if len(self._open) > FRAME_CAP:
            self.unread += len(self._open)
            self._open = self._open[-3:]
        if sent < len(text):
            yield text[sent:], None


def _value(frame: bytes) -> dict[str, Any] | None:
    """The JSON object of an event; None for a comment, an end mark, or what is no JSON."""
    lines = re.split(rb"\r\n|\n|\r", frame)
    data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    try:
        value = json.loads(b"\n".join(data))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
