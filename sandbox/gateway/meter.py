"""Counts what one answer uses, while it streams by."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from sandbox.gateway.dialect import Dialect
from sandbox.gateway.frames import Frames
from sandbox.gateway.usage import Usage

BYTES_A_TOKEN = 4
"""Of English text and code, as the providers' own guides say; only used until they have counted."""
DOCUMENT_CAP = 32 << 20

LIMITS = ("rate_limit_error", "rate_limit_exceeded", "usage_limit_reached")
_PACKED = re.compile(rb'"[A-Za-z0-9+/=_:;,-]{4096,}"')
"""Pictures and files in a request, which cost far fewer tokens than they have letters."""


class Meter:
    """Reads usage from a stream of events or from one document, and estimates until it is there."""

    def __init__(self, dialect: Dialect, question: bytes, content_type: str) -> None:
        packed = sum(len(found[0]) for found in _PACKED.finditer(question))
        self._dialect = dialect
        self._asked = math.ceil((len(question) - packed) / BYTES_A_TOKEN)
        self._written = 0
        self._reported: dict[str, int] = {}
        self._events = content_type.startswith("text/event-stream")
        self._frames = Frames()
        self._document = bytearray()
        self.limited = False
        """Whether the stream said in its midst that a rate or usage limit is reached."""
        self.exact = False
        """Whether the provider's own count is whole."""

    @property
    def between(self) -> bool:
        """Whether an event of ours may follow what went by."""
        return self._events and self._frames.between

    @property
    def usage(self) -> Usage:
        """So far: as reported, and estimated where nothing is reported yet."""
        known = self._dialect.usage(self._reported)
        if self.exact and known:
            return known
        output = math.ceil((self._written + self._frames.unread) / BYTES_A_TOKEN)
        if known is None:
            return Usage(self._asked, output)
        return Usage(
            known.input_tokens,
            max(known.output_tokens, output),
            known.cache_read_tokens,
            known.cache_write_tokens,
        )

    def cut(self, data: bytes) -> Iterator[bytes]:
        """`data` whole, in pieces: after each, `usage` holds all up to its end."""
        if not self._events:
            self._read(data)
            yield data
            return
        for piece, event in self._frames.cut(data):
            if event is not None:
                self._see(event)
            yield piece

    def end(self) -> None:
        """The answer is whole."""
        if self._events:
            return
        try:
            document = json.loads(self._document)
        except (ValueError, RecursionError):
            return
        if isinstance(document, dict):
            self._see(document)

    def _read(self, data: bytes) -> None:
        self._written += len(data)
        if len(self._document) + len(data) <= DOCUMENT_CAP:
            self._document += data

    def _see(self, event: dict[str, Any]) -> None:
        seen = self._dialect.seen(event)
        self._written += seen.written
        self._reported |= seen.reported
        self.exact = self.exact or seen.last
        self.limited = self.limited or seen.problem in LIMITS
