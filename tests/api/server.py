"""A scripted model API on loopback: Anthropic's Messages, OpenAI's Responses and Chat Completions.

    with play(Step(text="hello"), Step(fault=Fault(status=529))) as api:
        ...                         # point a client at api.url
    # leaving: every step was played and every expectation met, or an AssertionError says what not

Clients that append `/v1` themselves (Anthropic's) are given `api.url`, others `api.url + "/v1"`.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from types import ModuleType
from typing import Any

from tests.api import chat, messages, responses
from tests.api.request import Asked, Request
from tests.api.scenario import Expect, Scenario, Step, read
from tests.api.wire import Wire

APIS = (messages, responses, chat)


class PlayedApi:
    """The state of one scenario: what was asked so far, and what went other than written."""

    def __init__(self, scenario: Scenario) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.misses: list[str] = []
        self._scenario = scenario
        self._played = 0
        self._lock = Lock()

    @property
    def asked(self) -> list[Request]:
        """The requests that asked a model."""
        return [request for request in self.requests if request.asked]

    def record(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)

    def next(self, request: Request, asked: Asked) -> tuple[int, Step] | str:
        """The number and step to play for a request, or why there is none."""
        with self._lock:
            if self._scenario.side_answers and not asked.tools:
                return 0, Step(text="ok")
            if self._played == len(self._scenario.steps):
                if self._scenario.rest:
                    return self._played + 1, self._scenario.rest
                return self._miss(f"there is no step {self._played + 1}; asked: {asked.said[:200]}")
            step = self._scenario.steps[self._played]
            self._played += 1
            if missed := _missed(step.expect, request, asked):
                return self._miss(f"step {self._played} expects {missed}")
            return self._played, step

    def finish(self) -> None:
        """Raise an AssertionError when the scenario was not played as written."""
        left = len(self._scenario.steps) - self._played
        misses = self.misses + ([f"{left} steps were not played"] if left else [])
        assert not misses, "; ".join(misses)

    def _miss(self, text: str) -> str:
        self.misses.append(text)
        return text


class _Server(ThreadingHTTPServer):
    def handle_error(self, *args: object) -> None:
        """Stay quiet about clients that leave early; anything else is a mistake of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*args)


@contextmanager
def play(*steps: Step | Path | Scenario) -> Iterator[PlayedApi]:
    """Serve a scenario: its file, its value, or just its steps."""
    api = PlayedApi(_scenario(steps))
    closing = Event()
    server = _Server(("127.0.0.1", 0), _handler(api, closing))
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
        api.finish()
    finally:
        closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _scenario(given: tuple[Any, ...]) -> Scenario:
    match given:
        case (Path() as path,):
            return read(path)
        case (Scenario() as scenario,):
            return scenario
        case steps:
            return Scenario(steps)


def _missed(expect: Expect, request: Request, asked: Asked) -> str:
    """What the request lacks, in words; empty when nothing."""
    for text in expect.said:
        if text not in asked.said:
            return f"{text!r} in what is said, which is {asked.said[:500]!r}"
    if expect.system not in asked.system:
        return f"{expect.system!r} in the system prompt"
    if missing := set(expect.tools) - set(asked.tools):
        return f"the tools {sorted(missing)}; offered are {sorted(asked.tools)}"
    if expect.model not in ("", asked.model):
        return f"the model {expect.model}, not {asked.model}"
    if expect.key not in ("", request.key):
        return "another key"
    return ""


def _handler(api: PlayedApi, closing: Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: object) -> None:
            """Stay quiet: `api.requests` has it all."""

        def do_HEAD(self) -> None:
            self._record()
            Wire(self, closing).document(200, {})

        def do_GET(self) -> None:
            self._record()
            wire = Wire(self, closing)
            if "upgrade" in {name.lower() for name in self.headers}:
                wire.document(426, _error("upgrades are not spoken here"))
            elif self.path.partition("?")[0].endswith("/models"):
                wire.document(200, {"data": [], "models": [], "has_more": False})
            else:
                wire.document(404, _error("no such page"))

        def do_POST(self) -> None:
            path = self.path.partition("?")[0]
            body = json.loads(_body(self) or b"{}")
            wire = Wire(self, closing)
            if path.endswith("/count_tokens"):
                self._record(body)
                return wire.document(200, {"input_tokens": len(json.dumps(body)) // 4})
            for spoken in APIS:
                if path.endswith(spoken.PATH):
                    return self._answer(spoken, body, wire)
            self._record(body)
            return wire.document(404, _error("no such page"))

        def _answer(self, spoken: ModuleType, body: dict[str, Any], wire: Wire) -> None:
            asked = spoken.read(body)
            request = self._record(body, asked)
            match api.next(request, asked):
                case str(miss):
                    wire.document(400, spoken.problem("invalid_request_error", miss))
                case (number, step):
                    _send(spoken, wire, step, number, asked)

        def _record(self, body: dict[str, Any] | None = None, asked: Asked | None = None):
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body or {}, asked)
            api.record(request)
            return request

    return Handler


def _send(spoken: ModuleType, wire: Wire, step: Step, number: int, asked: Asked) -> None:
    fault = step.fault
    problem = (fault.error, fault.message)
    if fault.delay:
        wire.pause(fault.delay)
    if fault.instead in ("close", "reset", "hang"):
        return wire.instead(fault)
    if fault.instead == "html":
        return wire.whole(fault.status, "text/html", b"<html>Sign in</html>", fault.headers)
    if fault.status >= 400:
        body = "".join(step.raw) or json.dumps(spoken.problem(*problem))
        return wire.whole(fault.status, "application/json", body.encode(), fault.headers)
    if fault.instead == "json" or not asked.stream:
        return wire.document(200, spoken.document(step, number, asked.model), fault.headers)
    raw = (frame.encode() for frame in step.raw)
    frames = raw if step.raw else spoken.frames(step, number, asked.model)
    return wire.stream(frames, fault, spoken.problem_frame(*problem))


def _error(message: str) -> dict[str, Any]:
    return {"error": {"type": "not_found_error", "message": message}}


def _body(http: BaseHTTPRequestHandler) -> bytes:
    """The request's body, of known length or in chunks, packed or not."""
    if http.headers.get("transfer-encoding", "").lower() == "chunked":
        body = b"".join(_chunks(http))
    else:
        body = http.rfile.read(int(http.headers.get("content-length", 0)))
    return gzip.decompress(body) if http.headers.get("content-encoding") == "gzip" else body


def _chunks(http: BaseHTTPRequestHandler) -> Iterator[bytes]:
    while size := int(http.rfile.readline().split(b";")[0], 16):
        yield http.rfile.read(size)
        http.rfile.readline()
    while http.rfile.readline().strip():
        pass
