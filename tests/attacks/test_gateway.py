"""What a sandbox may try at its gateway, from within: N04, N07, N08. N03 stands in test_claude."""

import json
import secrets
import sys
import threading
from contextlib import ExitStack, contextmanager

import pytest

from sandbox import Limits, Line, open_box
from sandbox.errors import SandboxLostError
from sandbox.gateway.budget import Budget, Ledger, Used
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route
from tests.api.scenario import Fault, Step
from tests.api.server import play

KEY = f"sk-ant-api03-{secrets.token_hex(24)}"
TOKEN = f"run-{secrets.token_hex(24)}"
UNBOUND = Budget()
HELLO = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}

ASK = f"""
import http.client, json, os, sys
method, path, headers, body = json.loads(sys.argv[1])
connection = http.client.HTTPConnection("127.0.0.1", {PORT}, timeout=20)
connection.request(method, path, json.dumps(body), {{"x-api-key": os.environ["TOKEN"], **headers}})
answer = connection.getresponse()
print(answer.status, dict(answer.getheaders()), flush=True)
try:
    for line in answer:
        print(line.decode(), end="", flush=True)
except http.client.IncompleteRead:
    print("cut")
"""


@contextmanager
def beside(engine, image, api, budget):
    """A box whose only way out is a gateway to a played API; the gateway, the models' door."""
    route = Route("anthropic", api.url, KEY, ("claude-*",))
    models = Models([route], TOKEN, Provider(), Ledger(budget, lambda model, usage: 0.0))
    with open_gateway(models) as gateway:
        relay = Relay(gateway.accept, {"TOKEN": TOKEN})
        with open_box(
            engine, image, Limits(), run="test", purpose="work", neighbours=[relay]
        ) as box:
            yield gateway, models, box


@pytest.fixture
def make_beside(engine, image):
    """Such boxes, closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda api, budget=UNBOUND: stack.enter_context(beside(engine, image, api, budget))


def program(method="POST", path="/v1/messages", headers=None, **body):
    asked = [method, path, headers or {}, {**HELLO, **body}]
    return ["python3", "-c", ASK, json.dumps(asked)]


def ask(box, *words, **more):
    """Status, then headers and body, of one request from within."""
    done = box.run(program(*words, **more), seconds=30)
    assert done.exit.ok, done.stderr
    status, _, rest = done.stdout.decode().partition(" ")
    return int(status), rest


def test_n04_only_the_named_paths_methods_and_models_pass(make_beside):
    with play(Step("honest work")) as api:
        _, models, box = make_beside(api)
        refused = [
            ask(box, "GET", "/v1/messages"),
            ask(box, "DELETE", "/v1/messages"),
            ask(box, "POST", "/v1/messages/"),
            ask(box, "POST", "//v1/messages"),
            ask(box, "POST", "/v1/messages/batches"),
            ask(box, "POST", "/v1/files"),
            ask(box, "POST", "/v1/messages/../files"),
            ask(box, "POST", "/v1/%6dessages"),
            ask(box, "POST", "/v1/messages;x"),
            ask(box, "GET", "/v1/models"),
            ask(box, "POST", f"{api.url}/v1/messages"),
            ask(box, "CONNECT", "api.anthropic.com:443"),
            ask(box, model="gpt-x"),
            ask(box, model="Claude-x"),
            ask(box, "POST", "/v1/responses"),
        ]
        assert [status for status, _ in refused] == [403] * len(refused)
        assert ask(box, headers={"x-api-key": "guessed"})[0] == 401
        assert ask(box)[0] == 200
        assert len(api.requests) == 1
    assert models.used().requests == 1


def test_n04_over_budget_is_refused_and_costs_nothing(make_beside):
    with play(Step("honest work")) as api:
        _, models, box = make_beside(api, Budget(requests=1))
        assert ask(box)[0] == 200
        status, rest = ask(box)
    assert (status, "budget of 1 requests is used up" in rest) == (400, True)
    assert models.used() == Used(1, 1, models.used().usage, 0.0)


@pytest.mark.parametrize("pieces", [0, 1, 7])
def test_n07_a_key_that_the_provider_echoes_does_not_come_in(make_beside, pieces):
    echo = f'event: ping\ndata: {{"you_sent": "{KEY}"}}\n\n'
    quoted = json.dumps({"error": {"type": "authentication_error", "message": f"bad key {KEY}"}})
    steps = [
        Step(raw=(echo, echo), fault=Fault(pieces=pieces, headers={"x-debug": KEY})),
        Step(raw=(quoted,), fault=Fault(status=401, headers={"www-authenticate": KEY})),
    ]
    with play(*steps) as api:
        _, _, box = make_beside(api)
        answers = [ask(box, stream=True), ask(box)]
    assert [status for status, _ in answers] == [200, 401]
    assert [KEY in rest for _, rest in answers] == [False, False]
    assert [rest.count("[redacted]") for _, rest in answers] == [3, 2]


def close(gateway):
    gateway.close()


def crash(gateway):
    gateway._loop.call_soon_threadsafe(sys.exit)


def ask_until_killed(box, gateway, die):
    """The gateway dies within an answer; what asks then asks again and again."""
    lines = box.stream(program(stream=True), seconds=30)
    while b"message_start" not in next(lines).data:
        pass
    die(gateway)
    rest = [line.data for line in lines if isinstance(line, Line)]
    assert b"The gateway was closed" in b"".join(rest)
    again = 'while true; do python3 -c "$0" "$1"; done'
    box.run(["sh", "-c", again, *program()[2:]], seconds=30)


@pytest.mark.parametrize("die", [close, crash])
def test_n08_a_run_whose_gateway_dies_fails_by_name(engine, image, die):
    with (
        play(Step("hello", fault=Fault(after=3, then="stall"))) as api,
        pytest.raises(SandboxLostError, match=r"only way out broke .*[Tt]he gateway"),
        beside(engine, image, api, UNBOUND) as (gateway, _, box),
    ):
        ask_until_killed(box, gateway, die)
    assert gateway.lost() is not None
    assert [thread.name for thread in threading.enumerate() if thread.name == "gateway"] == []
