"""The attached stdin and stdout of a container, as two byte streams that never wait."""

import contextlib
import os
import socket
import ssl
from typing import Any, cast

from docker.api.client import APIClient

from sandbox.attach import Frames

PIECE = 1 << 18
KEPT = 2000
"""Bytes of stderr that are kept."""
NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class EngineLink:
    """A `Link` of `inside.multiplexer`: the connection to a running container."""

    def __init__(self, api: APIClient, container: str) -> None:
        parameters = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._door = cast(Any, api.attach_socket(container, parameters))
        self._socket: Any = getattr(self._door, "_sock", self._door)
        self._socket.setblocking(False)
        self._frames = Frames()
        self._errors = b""
        # What the HTTP client read beyond the response's header would otherwise be lost.
        self._early: bytes = self._door._response.raw._fp.fp.peek(1)
        self.source: int = self._socket.fileno()
        self.target = os.dup(self.source)  # a selector knows one purpose of a descriptor only

    def receive(self) -> bytes | None:
        """What the container printed; b"" at the end, None when nothing came."""
        while True:
            data, self._early = self._early or self._read(), b""
            if not data:
                return data
            if printed := self._printed(data):
                return printed

    def send(self, data: memoryview) -> int:
        """How many bytes were taken; 0 when none could be."""
        try:
            return int(self._socket.send(data))
        except NOT_YET:
            return 0

    def said(self) -> str:
        """The last line that the container printed as an error."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def shut(self) -> None:
        """End both streams, from any thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection, when nobody uses it any more."""
        os.close(self.target)
        self._door._response.close()
        self._door.close()
        self._socket.close()

    def _read(self) -> bytes | None:
        try:
            return bytes(self._socket.recv(PIECE))
        except NOT_YET:
            return None
        except ConnectionResetError:
            return b""

    def _printed(self, data: bytes) -> bytes:
        printed = []
        for chunk in self._frames.feed(data):
            if chunk.stream == "stdout":
                printed.append(chunk.data)
            else:
                self._errors = (self._errors + chunk.data)[-KEPT:]
        return b"".join(printed)
