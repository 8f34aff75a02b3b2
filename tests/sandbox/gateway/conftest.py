"""A gateway on one end of a socketpair, and a raw client on the other."""

import socket
from contextlib import ExitStack

import pytest

from sandbox.gateway.gateway import open_gateway


class Client:
    """The sandbox's end: raw bytes out, raw bytes back."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def ask(self, data: bytes) -> bytes:
        """Send, and read all until the gateway ends the connection."""
        self.sock.sendall(data)
        return self.rest()

    def rest(self) -> bytes:
        pieces = []
        while data := self.sock.recv(65536):
            pieces.append(data)
        return b"".join(pieces)


@pytest.fixture
def connect():
    """Connections to a gateway, closed at the end of the test."""
    with ExitStack() as stack:

        def connect(gateway) -> Client:
            ours, theirs = socket.socketpair()
            stack.callback(theirs.close)
            theirs.settimeout(10)
            gateway.accept(ours)
            return Client(theirs)

        yield connect


@pytest.fixture
def open_client(connect):
    """Clients of a gateway with these doors."""
    with ExitStack() as stack:
        yield lambda *doors: connect(stack.enter_context(open_gateway(*doors)))
