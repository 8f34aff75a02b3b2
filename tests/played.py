"""An engine that says what it is told to say, for what a real one does only in rare moments."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from docker import DockerClient

from sandbox import Engine


class Played(BaseHTTPRequestHandler):
    """Its answers; a part gives them for each method and path."""

    def say(self, status: int, what: object) -> None:
        body = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def listening(part: type[Played]) -> Iterator[str]:
    """Where it is, as DOCKER_HOST has it."""
    with HTTPServer(("127.0.0.1", 0), part) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def served(part: type[Played]) -> Iterator[Engine]:
    """Connected to it, without any question about its version."""
    with listening(part) as address, closing(DockerClient(address, version="1.41")) as client:
        yield Engine(client, "20.10", "amd64", "")
