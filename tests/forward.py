"""An engine behind a TCP port."""

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

ENGINE = "/var/run/docker.sock"


class Forward(socketserver.BaseRequestHandler):
    """Carries one connection to the engine's socket and back, byte for byte."""

    carried = 0
    late = 0.0
    """Seconds for which the engine's answers are held back, so that they arrive in one piece."""

    def handle(self) -> None:
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(ENGINE)
            out = threading.Thread(target=self.carry, args=(self.request, engine))
            out.start()
            self.carry(engine, self.request, self.late)
            out.join()

    @classmethod
    def carry(cls, source: socket.socket, target: socket.socket, late: float = 0.0) -> None:
        while source.recv(1, socket.MSG_PEEK):
            time.sleep(late)
            data = source.recv(1 << 16)
            cls.carried += len(data)
            target.sendall(data)
        # An end of input is passed on as one: what is on its way back still arrives.
        target.shutdown(socket.SHUT_WR)


class Late(Forward):
    """As on a machine that is so busy that the first words of an answer wait for the others."""

    late = 0.3


@contextmanager
def forwarding(kind: type[Forward]) -> Iterator[str]:
    """Forward until the end of the block; the address for DOCKER_HOST."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
