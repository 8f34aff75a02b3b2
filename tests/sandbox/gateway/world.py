"""The world outside, on this machine's loopback: names that lead there, and what answers."""

import http.server
import io
import threading
import zipfile
from contextlib import contextmanager

from sandbox.gateway.dial import Dialer


class World(http.server.BaseHTTPRequestHandler):
    """Answers every request with what it saw; /pages/* from the server's own table."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = int(self.headers.get("content-length", 0))
        seen = f"{self.command} {self.path}\n{self.headers}\n".encode() + self.rfile.read(size)
        self.server.seen.append(seen.decode())
        kind, status, body = self.server.pages.get(self.path, ("text/plain", 200, seen))
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in self.server.more:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_POST = do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


@contextmanager
def served():
    """A server of the world."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), World) as server:
        server.seen, server.pages, server.more = [], {}, []
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def dialer(**names):
    """`world` leads to this machine and is opened; other names as given, a list for each."""
    known = {"world.example": ["127.0.0.1"]} | {
        name.replace("_", "."): found for name, found in names.items()
    }

    def resolve(name):
        if name not in known:
            raise OSError(f"no {name}")
        found = known[name]
        return found() if callable(found) else found

    return Dialer(private=["world.example"], resolve=resolve)


def wheel(name):
    """The file name and the bytes of a package without code."""
    made = io.BytesIO()
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return f"{name}-1.0-py3-none-any.whl", made.getvalue()
