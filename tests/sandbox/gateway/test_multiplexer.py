"""What the multiplexer makes of frames, without any container."""

import contextlib
import os
import socket
import threading

import pytest

from sandbox.inside.multiplexer import (
    CREDIT,
    DATA,
    END,
    HEADER,
    OPEN,
    PIECE,
    READY,
    RESET,
    WINDOW,
    BrokenLinkError,
    Multiplexer,
)


class SocketLink:
    """A Link over one end of a socketpair."""

    def __init__(self, sock):
        sock.setblocking(False)
        self.sock = sock
        self.source, self.target = sock.fileno(), os.dup(sock.fileno())

    def receive(self):
        try:
            return self.sock.recv(PIECE)
        except BlockingIOError:
            return None

    def send(self, data):
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0


def frame(kind, number, size=0, data=b""):
    return HEADER.pack(kind, number, size) + data


def tell(sock, data):
    with contextlib.suppress(OSError):  # the other side may have had enough
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)


def played(*frames):
    """Run a multiplexer that gets these frames and then the end."""
    ours, theirs = socket.socketpair()
    inner, outer = socket.socketpair()
    link = SocketLink(ours)
    carried = Multiplexer(link, lambda number: inner if number == 1 else None)
    with ours, theirs, inner, outer:
        telling = threading.Thread(target=tell, args=(theirs, b"".join(frames)))
        telling.start()
        try:
            carried.run()
        finally:
            os.close(link.target)
            ours.shutdown(socket.SHUT_RDWR)
            telling.join()


OPENED = frame(OPEN, 1)
WRONG = {
    "an unknown kind": [frame(9, 1)],
    "a kind of zero length with a size": [OPENED, frame(END, 1, 5)],
    "no data": [OPENED, frame(DATA, 1, 0)],
    "a frame too long": [OPENED, frame(DATA, 1, PIECE + 1)],
    "a size that wraps": [OPENED, frame(DATA, 1, 0xFFFFFFFF)],
    "a connection that never was": [frame(DATA, 1, 1, b"x")],
    "connection zero": [OPENED, frame(CREDIT, 0, 1)],
    "a connection twice": [OPENED, OPENED],
    "a connection out of turn": [frame(OPEN, 7)],
    "ready for a connection": [frame(READY, 1)],
    "more room than there is": [OPENED, frame(CREDIT, 1, 1)],
    "room that wraps": [OPENED, frame(CREDIT, 1, 0xFFFFFFFF)],
    "a second end": [OPENED, frame(DATA, 1, 1, b"x"), frame(END, 1), frame(END, 1)],
    "data after the end": [OPENED, frame(END, 1), frame(DATA, 1, 1, b"x")],
}


@pytest.mark.parametrize("frames", WRONG.values(), ids=WRONG)
def test_what_no_honest_side_sends_ends_the_link_by_name(frames):
    with pytest.raises(BrokenLinkError):
        played(*frames)


def test_more_than_the_window_ends_the_link():
    piece = frame(DATA, 1, PIECE, bytes(PIECE))
    with pytest.raises(BrokenLinkError, match="more of connection 1 than there is room for"):
        played(OPENED, *[piece] * (10 * WINDOW // PIECE))


@pytest.mark.parametrize("late", [frame(DATA, 1, 1, b"x"), frame(END, 1), frame(CREDIT, 1, 9)])
def test_what_was_on_its_way_when_a_connection_ended_is_no_fault(late):
    played(OPENED, frame(RESET, 1), late)


def test_a_refused_connection_leaves_the_others():
    played(OPENED, frame(OPEN, 2), frame(DATA, 2, 1, b"x"), frame(OPEN, 3))


def test_half_a_frame_at_the_end_is_no_fault():
    played(OPENED, frame(DATA, 1, 9, b"half"))


def test_two_of_them_carry_every_byte_both_ways():
    left, right = map(SocketLink, socket.socketpair())
    carried = socket.socketpair()
    ends = socket.socketpair()
    opening = Multiplexer(left, lambda number: None)
    answering = Multiplexer(right, lambda number: ends[0])
    opening.open(carried[0])

    def carry(multiplexer):
        with contextlib.suppress(OSError):  # a last frame may meet the link's end
            multiplexer.run()

    threads = [threading.Thread(target=carry, args=(each,)) for each in (opening, answering)]
    for thread in threads:
        thread.start()
    data = os.urandom(1 << 20)
    sending = threading.Thread(target=lambda: (carried[1].sendall(data), carried[1].close()))
    sending.start()
    with ends[1]:
        assert b"".join(iter(lambda: ends[1].recv(1 << 16), b"")) == data
    sending.join()
    left.sock.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()
    for link in (left, right):
        link.sock.close()
        os.close(link.target)
