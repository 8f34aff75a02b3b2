"""Many connections over one pair of byte streams, each with its own flow control.

Frames: one byte of kind, four that number the connection, four of length or amount. A side may send
only so many bytes of a connection as the other has room for, so that one which nobody reads holds
up no other, and what is held is bounded. Runs on the host, and under the toolbox's Python alone.
"""

import contextlib
import select
import selectors
import socket
import struct
from collections.abc import Callable
from typing import Protocol

HEADER = struct.Struct("!BII")
READY, OPEN, DATA, END, RESET, CREDIT = range(6)
"""END: no more bytes come this way; RESET: both ways are over; CREDIT: room for so many bytes."""
PIECE = 1 << 16
"""Bytes of one frame, at most."""
WINDOW = 1 << 18
"""Bytes of one connection and way that may be held."""
MOST = 256
"""Connections at once; further ones wait in the kernel's queue."""
BACKLOG = 1 << 20
"""Bytes waiting for the link, beyond which nothing is read from any connection."""
CHECKED = 1.0
ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER with which close() sends a reset."""


class BrokenLinkError(Exception):
    """The other side sent what it never sends."""


class Link(Protocol):
    """A pair of byte streams to the other side; neither call waits."""

    source: int
    """Descriptor that can be polled for input, and `target` for output."""
    target: int

    def receive(self) -> bytes | None:
        """What arrived; b"" at the end, None when nothing did."""
        ...

    def send(self, data: memoryview) -> int:
        """How many bytes were taken; 0 when none could be."""
        ...


class Connection:
    """One connection's socket on this side, and how much each side may still send."""

    def __init__(self, number: int, sock: socket.socket) -> None:
        self.number = number
        self.sock = sock
        self.room = WINDOW
        """Bytes that the other side has room for."""
        self.unsent = bytearray()
        """Came over the link, not yet taken by the socket."""
        self.all_read = False
        """The socket's end was read and told."""
        self.all_come = False
        """The other side said that it is at its end."""
        self.all_written = False
        self.mask = 0

    def wanted(self) -> int:
        """What has to happen to the socket next."""
        reading = not self.all_read and self.room > 0
        return (selectors.EVENT_READ if reading else 0) | (
            selectors.EVENT_WRITE if self.unsent else 0
        )


class Multiplexer:
    """Carries connections over one link until that ends."""

    def __init__(self, link: Link, opened: Callable[[int], socket.socket | None]) -> None:
        """`opened` answers a connection that begins on the other side; None refuses it."""
        self._link = link
        self._opened = opened
        self._connections: dict[int, Connection] = {}
        self._last = 0
        self._in = bytearray()
        self._out = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(link.source, selectors.EVENT_READ, self._receive)
        self._sending = False
        self.told_ready: Callable[[], None] = lambda: None
        """Called when the other side says that it is there."""
        self.closed: Callable[[], None] = lambda: None
        """Called whenever a connection has gone."""
        self.checked: Callable[[], None] = lambda: None
        """Called about once a second; what it raises ends all connections."""

    def say_ready(self) -> None:
        """Tell the other side that this one is there."""
        self._put(READY, 0, 0)

    def watch(self, sock: socket.socket, callback: Callable[[], object]) -> None:
        """Call whenever something can be read from this socket."""
        self._selector.register(sock, selectors.EVENT_READ, callback)

    def ignore(self, sock: socket.socket) -> None:
        self._selector.unregister(sock)

    @property
    def full(self) -> bool:
        return len(self._connections) >= MOST

    def open(self, sock: socket.socket) -> None:
        """Carry a connection that begins on this side."""
        self._last += 1
        self._put(OPEN, self._last, 0)
        self._add(self._last, sock)

    def run(self) -> None:
        """Carry until the link ends. Raises BrokenLinkError, OSError."""
        try:
            while self._link_open():
                pass
        finally:
            for connection in list(self._connections.values()):
                self._drop(connection, abort=True)
            self._selector.close()

    def _link_open(self) -> bool:
        """One round; False when the link is at its end."""
        if len(self._out) > BACKLOG:
            _wait_for(self._link)
            self._flush()
            return self._receive()
        self._flush()
        self.checked()
        for key, mask in self._selector.select(CHECKED):
            if isinstance(key.data, Connection):
                self._serve(key.data, mask)
            elif key.data is not None and key.data() is False:
                return False
        return True

    # The link

    def _put(self, kind: int, number: int, size: int, data: bytes = b"") -> None:
        self._out += HEADER.pack(kind, number, size)
        self._out += data

    def _flush(self) -> None:
        with memoryview(self._out) as waiting:
            sent = self._link.send(waiting[: 16 * PIECE]) if waiting else 0
        del self._out[:sent]
        if bool(self._out) != self._sending:
            self._sending = bool(self._out)
            if self._sending:
                self._selector.register(self._link.target, selectors.EVENT_WRITE, None)
            else:
                self._selector.unregister(self._link.target)

    def _receive(self) -> bool:
        while (data := self._link.receive()) is not None:
            if not data:
                return False
            self._in += data
            self._parse()
        return True

    def _parse(self) -> None:
        place = 0
        while len(self._in) - place >= HEADER.size:
            kind, number, size = HEADER.unpack_from(self._in, place)
            end = place + HEADER.size
            if kind == DATA:
                if not 0 < size <= PIECE:
                    raise BrokenLinkError(f"a frame of {size} bytes")
                if len(self._in) < end + size:
                    break
                self._arrived(number, bytes(memoryview(self._in)[end : end + size]))
                end += size
            else:
                self._told(kind, number, size)
            place = end
        del self._in[:place]

    def _known(self, number: int) -> Connection | None:
        """The connection; None for one that is over here while the other side does not know yet."""
        if not 0 < number <= self._last:
            raise BrokenLinkError(f"a frame for connection {number}, which never was")
        return self._connections.get(number)

    def _told(self, kind: int, number: int, size: int) -> None:
        if kind == CREDIT:
            if connection := self._known(number):
                self._credit(connection, size)
            return
        if size:
            raise BrokenLinkError(f"a frame of kind {kind} with size {size}")
        if kind == READY and not number:
            self.told_ready()
        elif kind == OPEN:
            self._begin(number)
        elif kind in (END, RESET):
            connection = self._known(number)
            if connection and kind == RESET:
                self._drop(connection, abort=True)
            elif connection:
                self._ended(connection)
        else:
            raise BrokenLinkError(f"a frame of kind {kind}")

    def _begin(self, number: int) -> None:
        if number != self._last + 1:
            raise BrokenLinkError(f"connection {number} after {self._last}")
        self._last = number
        # Here it may be full earlier than there, of connections whose last bytes nobody takes.
        sock = None if self.full else self._opened(number)
        if sock is None:
            self._put(RESET, number, 0)
        else:
            self._add(number, sock)

    def _ended(self, connection: Connection) -> None:
        if connection.all_come:
            raise BrokenLinkError(f"a second end of connection {connection.number}")
        connection.all_come = True
        self._write(connection)

    def _credit(self, connection: Connection, size: int) -> None:
        connection.room += size
        if connection.room > WINDOW:
            raise BrokenLinkError(f"more room in connection {connection.number} than there is")
        self._settle(connection)

    def _arrived(self, number: int, data: bytes) -> None:
        connection = self._known(number)
        if connection is None:
            return
        if connection.all_come or len(connection.unsent) + len(data) > WINDOW:
            raise BrokenLinkError(f"more of connection {number} than there is room for")
        connection.unsent += data
        self._write(connection)

    # The connections

    def _add(self, number: int, sock: socket.socket) -> None:
        sock.setblocking(False)
        connection = self._connections[number] = Connection(number, sock)
        self._settle(connection)

    def _serve(self, connection: Connection, mask: int) -> None:
        # An earlier event of the same round may have ended it.
        if mask & selectors.EVENT_WRITE and connection.mask:
            self._write(connection)
        if mask & selectors.EVENT_READ and connection.mask:
            self._read(connection)

    def _read(self, connection: Connection) -> None:
        if not connection.room:
            return
        try:
            data = connection.sock.recv(min(PIECE, connection.room))
        except BlockingIOError:
            return
        except OSError:
            self._give_up(connection)
            return
        connection.room -= len(data)
        connection.all_read = not data
        self._put(DATA if data else END, connection.number, len(data), data)
        self._settle(connection)

    def _write(self, connection: Connection) -> None:
        try:
            sent = connection.sock.send(connection.unsent) if connection.unsent else 0
            del connection.unsent[:sent]
            if connection.all_come and not connection.unsent:
                connection.all_written = True
                with contextlib.suppress(OSError):  # its peer may be gone already
                    connection.sock.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._give_up(connection)
            return
        if sent:
            self._put(CREDIT, connection.number, sent)
        self._settle(connection)

    def _settle(self, connection: Connection) -> None:
        """Wait for what the connection needs next, or let it go when it needs nothing more."""
        if connection.all_read and connection.all_written:
            self._drop(connection)
            return
        wanted = connection.wanted()
        if wanted == connection.mask:
            return
        if not connection.mask:
            self._selector.register(connection.sock, wanted, connection)
        elif not wanted:
            self._selector.unregister(connection.sock)
        else:
            self._selector.modify(connection.sock, wanted, connection)
        connection.mask = wanted

    def _give_up(self, connection: Connection) -> None:
        self._put(RESET, connection.number, 0)
        self._drop(connection, abort=True)

    def _drop(self, connection: Connection, *, abort: bool = False) -> None:
        del self._connections[connection.number]
        if connection.mask:
            self._selector.unregister(connection.sock)
            connection.mask = 0
        if abort:
            with contextlib.suppress(OSError):
                connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        connection.sock.close()
        self.closed()


def _wait_for(link: Link) -> None:
    poll = select.poll()
    poll.register(link.source, select.POLLIN)
    poll.register(link.target, select.POLLOUT)
    poll.poll()
