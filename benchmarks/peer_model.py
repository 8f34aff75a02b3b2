"""Both ends of a measured model: `serve PORT` answers, `ask PORT TOKEN REQUESTS EVENTS` times it.

Runs on the host and, as text, in the box: the standard library alone.
"""

import http.client
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAUSE = 0.001
"""Seconds between events, so that each travels alone."""


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "events" not in asked:
            body = b'{"type": "message", "usage": {"input_tokens": 1, "output_tokens": 1}}'
            self._head("application/json", ("content-length", str(len(body))))
            self.wfile.write(body)
            return
        self._head("text/event-stream", ("transfer-encoding", "chunked"))
        for _ in range(asked["events"]):
            time.sleep(PAUSE)
            delta = {"type": "text_delta", "text": "word "}
            event = {"type": "content_block_delta", "delta": delta, "at": time.monotonic()}
            self._chunk(b"data: %s\n\n" % json.dumps(event).encode())
        self._chunk(b"")

    def _head(self, kind: str, length: tuple[str, str]) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header(*length)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def serve(port: int) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", port), Model)
    print(server.server_port, flush=True)
    server.serve_forever()


def ask(port: int, token: str, requests: int, events: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    post(connection, token, {}).read()
    taken = []
    for _ in range(requests):
        began = time.perf_counter()
        post(connection, token, {}).read()
        taken.append(time.perf_counter() - began)
    late = []
    for line in post(connection, token, {"events": events, "stream": True}):
        if line.startswith(b"data: "):
            late.append(time.monotonic() - json.loads(line[6:])["at"])
    print(json.dumps({"request": taken, "event": late}))


def post(
    connection: http.client.HTTPConnection, token: str, more: dict[str, object]
) -> http.client.HTTPResponse:
    body = json.dumps({"model": "claude-x", "messages": [{"content": "x" * 20_000}], **more})
    connection.request("POST", "/v1/messages", body, {"x-api-key": token})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        ask(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
