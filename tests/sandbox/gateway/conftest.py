"""A gateway on one end of a socketpair, and on the other a client, raw or speaking HTTP."""

import http.client
import json
import socket
import threading
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from sandbox.gateway.asked import Asked
from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.routes import Route


class Client:
    """The sandbox's end: raw bytes out, raw bytes back."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def ask(self, data: bytes) -> bytes:
        """Send, and read all until the gateway ends the connection."""
        self.sock.sendall(data)
        return self.rest()

    def rest(self) -> bytes:
        pieces = []
        while data := self.sock.recv(65536):
            pieces.append(data)
        return b"".join(pieces)


@pytest.fixture
def connect():
    """Connections to a gateway, closed at the end of the test."""
    with ExitStack() as stack:

        def connect(gateway) -> Client:
            ours, theirs = socket.socketpair()
            stack.callback(theirs.close)
            theirs.settimeout(10)
            gateway.accept(ours)
            return Client(theirs)

        yield connect


@pytest.fixture
def open_client(connect):
    """Clients of a gateway with these doors."""
    with ExitStack() as stack:
        yield lambda *doors: connect(stack.enter_context(open_gateway(*doors)))


TOKEN = "run-token-0123456789"
KEY = "sk-ant-api03-the-real-key-0123456789"
ANTHROPIC = Route("anthropic", "http://127.0.0.1:1", KEY, ("claude-*",))
HELLO = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
UNBOUND = Budget()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Answers(list):
    """What the gateway told of ended requests."""

    def __init__(self) -> None:
        super().__init__()
        self.came = threading.Event()

    def append(self, answered) -> None:
        super().append(answered)
        self.came.set()


class Asker:
    """A gateway to models, and a client that speaks HTTP to it."""

    def __init__(self, connect, gateway, models, answered) -> None:
        self.connect, self.gateway, self.models = connect, gateway, models
        self.answered = answered

    def open(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("gateway")
        self.sock = connection.sock = self.connect(self.gateway).sock
        return connection

    def hang_up(self) -> None:
        """Leave the connection that was opened last."""
        self.sock.shutdown(socket.SHUT_RDWR)

    def begin(self, body=HELLO, path="/v1/messages", method="POST", headers=None):
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.open()
        connection.request(method, path, sent, headers or {"x-api-key": TOKEN})
        return connection.getresponse()

    def ask(self, body=HELLO, path="/v1/messages", method="POST", headers=None) -> Answer:
        response = self.begin(body, path, method, headers)
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, response.read())


@pytest.fixture
def make_asker(connect):
    """Gateways to models, by the routes and what else is asked of them."""
    with ExitStack() as stack:

        def make(
            *routes,
            budget=UNBOUND,
            price=lambda model, usage: None,
            on_question=Asked.let_in,
            **more,
        ) -> Asker:
            answered = Answers()
            provider = Provider(**more)
            ledger = Ledger(budget, price)  # last: its time begins now
            models = Models(routes, TOKEN, provider, ledger, answered.append, on_question)
            gateway = stack.enter_context(open_gateway(models))
            stack.callback(lambda: gateway.faults == [] or pytest.fail(gateway.faults[0]))
            return Asker(connect, gateway, models, answered)

        yield make
