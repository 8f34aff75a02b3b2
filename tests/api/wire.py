"""Sending an answer over HTTP/1.1, rightly or with a fault."""

import json
import socket
import struct
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from tests.api.scenario import Fault


class Wire:
    """The answering side of one connection. `closing` ends every wait when the server stops."""

    def __init__(self, http: BaseHTTPRequestHandler, closing: Event) -> None:
        self._http = http
        self._closing = closing

    def document(self, status: int, value: object, headers: Mapping[str, str] | None = None):
        """Send a whole JSON document."""
        self.whole(status, "application/json", json.dumps(value).encode(), headers or {})

    def whole(self, status: int, kind: str, body: bytes, headers: Mapping[str, str]):
        """Send a whole body of any type."""
        sized = {"content-type": kind, "content-length": str(len(body)), **headers}
        self._head(status, sized)
        if self._http.command != "HEAD":
            self._http.wfile.write(body)

    def stream(self, frames: Iterable[bytes], fault: Fault, problem: bytes):
        """Send frames as they come, up to the fault."""
        chunked = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self._head(200, {**chunked, **fault.headers})
        for number, frame in enumerate(frames):
            if fault.then and number == fault.after:
                return self._break(fault, problem)
            if fault.slow and number:
                self.pause(fault.slow)
            for piece in _cut(frame, fault.pieces):
                self._chunk(piece)
        return self._chunk(b"")

    def instead(self, fault: Fault):
        """Break the connection before anything is said."""
        if fault.instead == "hang":
            self.pause(None)
        elif fault.instead == "reset":
            self._reset()
        self._http.close_connection = True

    def pause(self, seconds: float | None):
        """Say nothing for so long, or until the server stops."""
        self._closing.wait(seconds)

    def _break(self, fault: Fault, problem: bytes):
        match fault.then:
            case "end":
                return self._chunk(b"")
            case "error":
                self._chunk(problem)
                return self._chunk(b"")
            case "garbage":
                self._chunk(b"event: message_delta\ndata: {no json\n\n")
                return self._chunk(b"")
            case "stall":
                self.pause(None)
            case "reset":
                self._reset()
        self._http.close_connection = True
        return None

    def _head(self, status: int, headers: Mapping[str, str]):
        self._http.send_response(status)
        for name, value in headers.items():
            self._http.send_header(name, value)
        self._http.end_headers()

    def _chunk(self, data: bytes):
        """One chunk; an empty one ends the body."""
        self._http.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._http.wfile.flush()

    def _reset(self):
        """Make closing the connection send RST."""
        linger: Any = struct.pack("ii", 1, 0)
        self._http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        # A socket is closed with its last file object; the reset must not wait for those.
        self._http.connection.shutdown(socket.SHUT_RD)


def _cut(frame: bytes, size: int) -> list[bytes]:
    size = size or len(frame)
    return [frame[at : at + size] for at in range(0, len(frame), size)]
