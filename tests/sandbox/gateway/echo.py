"""What answers on the host in tests of the relay."""

import contextlib
import socket
import threading


class Echo:
    """Gives back what comes, connection by connection; keeps those it should not read."""

    def __init__(self):
        self.kept: list[socket.socket] = []
        self.keeping = False

    def accept(self, sock):
        if self.keeping:
            self.kept.append(sock)
        else:
            threading.Thread(target=_answer, args=(sock,), daemon=True).start()

    def let_go(self):
        for sock in self.kept:
            sock.close()


def _answer(sock):
    with sock, contextlib.suppress(OSError):
        while data := sock.recv(1 << 16):
            sock.sendall(data)
