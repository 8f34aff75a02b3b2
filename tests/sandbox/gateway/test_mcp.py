"""Tools of the host, as programs in a sandbox reach them."""

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.mcp import BODY_CAP, VERSIONS, Mcp, Offer, Told

TOKEN = "run-token-0123456789"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


def echo(arguments):
    return Told(f"got {arguments}", error=arguments == "{}")


def call(name="echo", own=1, **arguments):
    return ask("tools/call", own, name=name, arguments=arguments)


def ask(method, own=1, **params):
    return {"jsonrpc": "2.0", "id": own, "method": method, "params": params}


class Caller:
    """Programs in a sandbox, each with a connection."""

    def __init__(self, connect, gateway):
        self.connect, self.gateway = connect, gateway

    def begin(self, message, *, method="POST", path="/mcp", headers=HEADERS, **more):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection = http.client.HTTPConnection("gateway")
        connection.sock = self.connect(self.gateway).sock
        connection.request(method, path, body, {**headers, **more})
        return connection

    def status(self, message, **more):
        return self.begin(message, **more).getresponse().status

    def answer(self, message, **more):
        response = self.begin(message, **more).getresponse()
        assert response.getheader("content-type") == "application/json"
        return json.loads(response.read())


@pytest.fixture
def caller(connect):
    with open_gateway(Mcp("tools", TOKEN, [Offer("echo", "Says it.", SCHEMA, echo)])) as gateway:
        yield Caller(connect, gateway)
        assert gateway.faults == []


def test_a_program_is_greeted_in_the_version_it_speaks(caller):
    for version in VERSIONS:
        greeted = caller.answer(ask("initialize", protocolVersion=version))["result"]
        assert greeted["protocolVersion"] == version
    assert greeted["capabilities"] == {"tools": {}}
    assert greeted["serverInfo"]["name"] == "tools"


def test_a_program_of_another_version_is_told_ours(caller):
    greeted = caller.answer(ask("initialize", protocolVersion="2099-01-01"))["result"]
    assert greeted["protocolVersion"] == VERSIONS[0]


def test_tools_are_listed_with_their_schemas(caller):
    assert caller.answer(ask("tools/list", "a"))["result"]["tools"] == [
        {
            "name": "echo",
            "description": "Says it.",
            "inputSchema": SCHEMA,
            "annotations": {"readOnlyHint": False},
        }
    ]


def test_a_call_gives_its_result(caller):
    answer = caller.answer(call(own="seven", text="é"))
    assert answer == {
        "jsonrpc": "2.0",
        "id": "seven",
        "result": {
            "content": [{"type": "text", "text": 'got {"text": "\\u00e9"}'}],
            "isError": False,
        },
    }


def test_what_a_tool_cannot_do_is_a_result(caller):
    assert caller.answer(call())["result"]["isError"] is True


def test_a_ping_is_answered(caller):
    assert caller.answer(ask("ping"))["result"] == {}


def test_a_notification_is_taken_and_not_answered(caller):
    response = caller.begin({"jsonrpc": "2.0", "method": "notifications/initialized"}).getresponse()
    assert (response.status, response.read()) == (202, b"")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (ask("resources/list"), -32601),
        (ask("__class__"), -32601),
        (ask("initialize"), -32602),
        (ask("initialize", protocolVersion=7), -32602),
        (ask("tools/call", name="bash", arguments={}), -32602),
        (ask("tools/call", arguments={}), -32602),
        (ask("tools/call", name=["echo"]), -32602),
        (ask("tools/call", name="echo", arguments=[]), -32602),
    ],
)
def test_a_request_that_cannot_be_done_says_why(caller, message, code):
    assert caller.answer(message)["error"]["code"] == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}', -32700),
        (b"\xff\xfe{}", -32700),
        (b"[" * 100_000, -32700),
        (b'{"a":' * 100_000, -32700),
        (json.dumps([ask("ping"), ask("ping", 2)]).encode(), -32700),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": "' + b"x" * 300 + b'", "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 300 + b', "method": "ping"}', -32600),
    ],
)
def test_what_is_no_message_is_refused(caller, body, code):
    response = caller.begin(body).getresponse()
    said = json.loads(response.read())
    assert (response.status, said["id"], said["error"]["code"]) == (400, None, code)


@pytest.mark.parametrize("depth", range(900, 1000, 9))
def test_arguments_are_as_deep_as_can_be_walked_or_refused(caller, depth):
    deep = b'{"text": ' + b"[" * depth + b"]" * depth + b"}"
    before, after = json.dumps(call()).encode().split(b"{}")
    answer = caller.answer(before + deep + after)
    assert answer.get("error", {"code": 0})["code"] in (0, -32700, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"x-api-key": "é"},
    ],
)
def test_nobody_is_served_without_the_token(caller, headers):
    assert caller.status(call(), headers=headers) == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_nothing_but_post_is_answered(caller, method):
    response = caller.begin(b"", method=method).getresponse()
    assert (response.status, response.getheader("allow")) == (405, "POST")


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/x", "/MCP", "/", "/.well-known/mcp"])
def test_no_other_path_leads_to_the_tools(caller, path):
    assert caller.status(call(), path=path) == 403


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("content-type", "text/plain", 415),
        ("content-encoding", "gzip", 415),
        ("origin", "http://127.0.0.1:13128", 403),
        ("mcp-protocol-version", "2024-11-05", 400),
        ("mcp-protocol-version", "x", 400),
    ],
)
def test_what_no_program_sends_is_refused(caller, header, value, status):
    assert caller.status(call(), **{header: value}) == status


def test_a_message_is_bounded(caller):
    assert caller.status(b" " * (BODY_CAP + 1)) == 413


def test_a_door_without_a_token_is_never_opened():
    with pytest.raises(ValueError, match="anybody"):
        Mcp("tools", "", [])


def test_calls_are_carried_out_one_after_another(connect):
    most, running, lock = 0, 0, threading.Lock()

    def count(arguments):
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)  # work long enough to be overtaken in
        with lock:
            running -= 1
        return Told("")

    with open_gateway(Mcp("tools", TOKEN, [Offer("echo", "", SCHEMA, count)])) as gateway:
        caller = Caller(connect, gateway)
        with ThreadPoolExecutor(20) as many:
            answers = list(many.map(caller.answer, [call(own=n) for n in range(20)]))
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert most == 1


def test_a_call_of_a_program_that_is_gone_holds_up_nobody_for_ever(connect):
    begun, free = threading.Event(), threading.Event()

    def wait(arguments):
        begun.set()
        assert free.wait(10)
        return Told(arguments)

    with open_gateway(Mcp("tools", TOKEN, [Offer("echo", "", SCHEMA, wait)])) as gateway:
        caller = Caller(connect, gateway)
        gone = caller.begin(call(text="first"))
        assert begun.wait(10)
        gone.sock.close()
        with ThreadPoolExecutor(1) as later:
            answer = later.submit(caller.answer, call(text="second"))
            free.set()
            assert "second" in json.dumps(answer.result(10))
        assert gateway.faults == []


def test_an_end_does_not_wait_for_a_call(connect):
    begun, free = threading.Event(), threading.Event()

    def wait(arguments):
        begun.set()
        assert free.wait(10)
        return Told("")

    with open_gateway(Mcp("tools", TOKEN, [Offer("echo", "", SCHEMA, wait)])) as gateway:
        connection = Caller(connect, gateway).begin(call())
        assert begun.wait(10)
    free.set()
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
