import asyncio
import json
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.errors import GatewayError
from sandbox.gateway import gateway as gateway_module
from sandbox.gateway.gateway import open_gateway
from tests.sandbox.gateway.conftest import Client


class Echo:
    """A door that answers with what it was sent."""

    def __init__(self, cap: int = 1000) -> None:
        self.cap = cap
        self.closed = False

    def takes(self, request):
        return request.path.startswith("/echo")

    async def serve(self, request, connection):
        body = await connection.body(self.cap)
        await connection.begin(200, [("content-type", "text/plain")])
        await connection.send(b"%s:" % request.target.encode())
        await connection.send(body or b"-")
        await connection.end()

    async def close(self):
        self.closed = True


class Broken(Echo):
    """A door with a mistake in it."""

    async def serve(self, request, connection):
        raise KeyError("oops")


class Stalled(Echo):
    """A door that never answers."""

    def __init__(self):
        super().__init__()
        self.entered = threading.Event()

    async def serve(self, request, connection):
        await connection.watched(self.stall())

    async def stall(self):
        self.entered.set()
        await asyncio.Event().wait()


HOST = b"Host: gateway\r\n"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def post(path: bytes, body: bytes, *headers: bytes) -> bytes:
    head = [b"POST %s HTTP/1.1" % path, b"Host: g", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


LAST = b"Connection: close"


def test_a_request_is_served_by_the_door_that_takes_it(open_client):
    answer = open_client(Echo()).ask(post(b"/echo?q=1", b"hello", LAST))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"hello" in answer


def test_what_no_door_takes_is_refused_by_name(open_client):
    answer = open_client(Echo()).ask(post(b"/other", b"hello"))
    head, body = answer.split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 Forbidden")
    assert b"x-should-retry: false" in head
    assert json.loads(body)["error"]["message"] == "POST /other is not allowed."


def test_requests_on_one_connection_are_served_one_after_the_other(open_client):
    answer = open_client(Echo()).ask(post(b"/echo1", b"one") + post(b"/echo2", b"two", LAST))
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.index(b"one") < answer.index(b"two")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param(b"\0\1\2\3\r\n\r\n", 400, id="no HTTP at all"),
        pytest.param(b"POST /echo HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(
            b"POST /echo HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            411,
            id="length and transfer encoding",
        ),
        pytest.param(
            b"POST /echo HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            411,
            id="transfer encoding",
        ),
        pytest.param(
            b"POST /echo HTTP/1.1\r\n" + HOST + b"Transfer-Encoding : chunked\r\n\r\n",
            400,
            id="space before the colon",
        ),
        pytest.param(
            b"POST /echo HTTP/1.1\r\n"
            + HOST
            + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            400,
            id="two lengths",
        ),
        pytest.param(post(b"/echo", b"x" * 1001), 413, id="large body"),
        pytest.param(
            b"POST /echo HTTP/1.1\r\n" + HOST + b"X: " + b"x" * 200_000, 431, id="large header"
        ),
        pytest.param(b"GET http://evil.example/ HTTP/1.1\r\n" + HOST + b"\r\n", 403, id="absolute"),
        pytest.param(b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n", 403, id="connect"),
    ],
)
def test_abuse_is_refused_and_ends_the_connection(open_client, request_, expected):
    answer = open_client(Echo()).ask(request_ + post(b"/echo", b"smuggled"))
    assert (status(answer), answer.count(b"HTTP/1.1 "), b"smuggled:" in answer) == (
        expected,
        1,
        False,
    )


def test_http_1_0_is_served_and_ends(open_client):
    answer = open_client(Echo()).ask(b"POST /echo HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi")
    assert answer.endswith(b"\r\n\r\n/echo:hi")


def test_a_client_that_waits_for_100_is_told_to_go_on(open_client):
    client = open_client(Echo())
    client.sock.sendall(post(b"/echo", b"hi", b"Expect: 100-continue", LAST)[:-2])
    assert client.sock.recv(100).startswith(b"HTTP/1.1 100 ")
    assert b"hi" in client.ask(b"hi")


def test_a_client_that_leaves_within_its_body_costs_nothing(connect):
    with open_gateway(Echo()) as gateway:
        gone = connect(gateway)
        gone.sock.sendall(post(b"/echo", b"hello")[:-2])
        gone.sock.close()
        assert b"200 OK" in connect(gateway).ask(post(b"/echo", b"hello", LAST))
    assert gateway.faults == []


def test_a_mistake_of_ours_costs_one_connection_and_is_kept(connect):
    with open_gateway(Broken()) as gateway:
        assert connect(gateway).ask(post(b"/echo", b"")) == b""
        assert connect(gateway).ask(post(b"/other", b""))
    assert "KeyError: 'oops'" in gateway.faults[0]


def test_only_the_first_mistakes_are_kept(connect):
    with open_gateway(Broken()) as gateway:
        for _ in range(gateway_module.FAULTS + 5):
            connect(gateway).ask(post(b"/echo", b""))
    assert len(gateway.faults) == gateway_module.FAULTS


def test_closing_ends_connections_and_doors(connect):
    door = Stalled()
    with open_gateway(door) as gateway:
        client = connect(gateway)
        client.sock.sendall(post(b"/echo", b""))
        assert door.entered.wait(10)
    assert (client.rest(), door.closed) == (b"", True)


def test_a_closed_gateway_accepts_nothing_and_says_so(connect):
    with open_gateway() as gateway:
        assert gateway.lost() is None
    with pytest.raises(GatewayError, match="The gateway is closed"):
        connect(gateway)


def test_only_so_many_connections_are_held(connect, monkeypatch):
    monkeypatch.setattr(gateway_module, "CONNECTIONS", 1)
    door = Stalled()
    with open_gateway(door) as gateway:
        connect(gateway).sock.sendall(post(b"/echo", b""))
        assert door.entered.wait(10)
        assert connect(gateway).rest() == b""


def test_a_body_that_is_announced_too_large_is_not_asked_for(open_client):
    head = post(b"/echo", b"", b"Expect: 100-continue").replace(b"Length: 0", b"Length: 1001")
    assert status(open_client(Echo()).ask(head)) == 413


PIECES = [
    *(b"POST /echo HTTP/1.1", b"GET /echo HTTP/1.0", b"\r\n", b"\r\n\r\n", b"\n", b"Host: g"),
    *(b"Content-Length: 3", b"Content-Length: -1", b"Transfer-Encoding: chunked", b"3\r\nabc"),
    *(b"Connection: keep-alive, Upgrade", b"Upgrade: websocket", b"Expect: 100-continue", b": "),
    *(b"CONNECT a:1 HTTP/1.1", b"\0", b"\xff", b"abc"),
]


@pytest.fixture(scope="module")
def shared():
    with open_gateway(Echo()) as gateway:
        yield gateway


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=9), max_size=20).map(b"".join))
def test_whatever_comes_is_answered_or_ended(shared, sent):
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.settimeout(10)
        shared.accept(ours)
        client = Client(theirs)
        theirs.sendall(sent)
        theirs.shutdown(socket.SHUT_WR)
        client.rest()
    assert shared.faults == []
