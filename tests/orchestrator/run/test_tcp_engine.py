"""No path of the host is ever mounted: an engine behind a TCP port serves as well as a socket."""

import socket
import socketserver
import threading

import pytest

from orchestrator.events import CheckFinished, Prepared
from orchestrator.outcome import Outcome

ENGINE = "/var/run/docker.sock"


class Forward(socketserver.BaseRequestHandler):
    """Carries one connection to the engine's socket and back, byte for byte."""

    carried = 0

    def handle(self):
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(ENGINE)
            out = threading.Thread(target=self.carry, args=(self.request, engine))
            out.start()
            self.carry(engine, self.request)
            out.join()

    @classmethod
    def carry(cls, source: socket.socket, target: socket.socket) -> None:
        while data := source.recv(1 << 16):
            cls.carried += len(data)
            target.sendall(data)
        # An end of input is passed on as one: what is on its way back still arrives.
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def engine_over_tcp(monkeypatch):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield Forward
        server.shutdown()
        thread.join()


def test_a_whole_run_goes_through_a_port(desk, engine_over_tcp):
    edit = "head -c 3000000 /dev/urandom > noise.log; echo '# more' >> README.md; cat noise.log"
    ran = desk.run(edit, checks=("grep more README.md",), setup=(f"echo {desk.home}",))
    assert [each.cached for each in ran.told(Prepared)] == [False]
    shown = [(check.stage, check.passed) for check in ran.told(CheckFinished)]
    assert shown == [("base", False), ("proof", True)]
    assert ran.record.outcome is Outcome.DONE
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"
    assert engine_over_tcp.carried > 3_000_000
