"""Carry every connection to one port of the sandbox over stdin and stdout, to the host.

    python -I -S -c TEXT PORT

TEXT is that of multiplexer.py with this one behind it: a relay has no file to import from.
"""

import os
import socket
import sys

if __package__:
    from .multiplexer import HEADER, PIECE, Multiplexer


class Standard:
    """This process's stdin and stdout."""

    source = 0
    target = 1

    def receive(self) -> bytes | None:
        try:
            return os.read(0, 4 * PIECE)
        except BlockingIOError:
            return None

    def send(self, data: memoryview) -> int:
        try:
            return os.write(1, data)
        except BlockingIOError:
            return 0


def listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    listener.setblocking(False)
    return listener


def main(port: int) -> None:
    listener = listen(port)
    # What is said before the host is attached would be lost, so the host speaks first.
    if not os.read(0, HEADER.size):
        return
    for descriptor in (0, 1):
        os.set_blocking(descriptor, False)
    relay = Multiplexer(Standard(), lambda number: None)

    def accept() -> None:
        try:
            sock, _ = listener.accept()
        except OSError:  # it went away meanwhile
            return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        relay.open(sock)
        if relay.full:
            relay.ignore(listener)
            relay.closed = again

    def again() -> None:
        relay.closed = lambda: None
        relay.watch(listener, accept)

    relay.watch(listener, accept)
    relay.say_ready()
    relay.run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
