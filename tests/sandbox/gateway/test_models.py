"""Requests to models through the gateway, against played APIs."""

import json
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import trustme

from sandbox.gateway.budget import Budget, Used
from sandbox.gateway.routes import Route
from sandbox.gateway.usage import Usage
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.sandbox.gateway.conftest import ANTHROPIC, HELLO, KEY, TOKEN

CHAT = {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
RESPONSES = {"model": "gpt-x", "input": "hi"}
APIS = {
    "/v1/messages": HELLO,
    "/v1/responses": RESPONSES,
    "/v1/chat/completions": CHAT,
}
every_api = pytest.mark.parametrize("path", APIS)


STREAMED = {**HELLO, "stream": True}


def read_until(text, response):
    seen = b""
    while text not in seen:
        seen += response.read1()


def routes(api):
    return (
        replace(ANTHROPIC, base_url=api.url),
        Route("openai", api.url + "/v1", KEY, ("gpt-*",)),
    )


@every_api
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_comes_through_whole_and_is_counted(make_asker, path, stream):
    with play(Step("hello", usage=Usage(1000, 20, 300, 200))) as api:
        asker = make_asker(*routes(api), price=lambda model, usage: 0.5)
        answer = asker.ask({**APIS[path], "stream": stream}, path)
    assert (answer.status, b"hello" in answer.body) == (200, True)
    used = Used(requests=1, usage=Usage(1000, 20, 300, 200), cost=0.5)
    assert asker.models.used() == used
    assert [(one.status, one.usage, one.estimated) for one in asker.answered] == [
        (200, used.usage, False)
    ]


@pytest.mark.parametrize(
    ("path", "header", "value"),
    [
        ("/v1/messages", "x-api-key", KEY),
        ("/v1/responses", "authorization", f"Bearer {KEY}"),
        ("/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    ],
)
def test_the_key_is_put_in_the_place_of_the_token(make_asker, path, header, value):
    mine = {"x-api-key": TOKEN, "Authorization": f"Bearer {TOKEN}", "Cookie": "a=b"}
    mine |= {"anthropic-beta": "tools-1", "Connection": "x-mine", "x-mine": "1"}
    with play(Step("hi")) as api:
        assert make_asker(*routes(api)).ask(APIS[path], path, headers=mine).status == 200
    sent = api.asked[0].headers
    assert sent.pop(header) == value
    assert TOKEN not in str(sent)
    assert {"cookie", "x-mine", "x-api-key", "authorization"} & sent.keys() == set()
    assert (sent["anthropic-beta"], sent["accept-encoding"]) == ("tools-1", "identity")
    assert sent["host"] == api.url.removeprefix("http://")


def test_the_token_of_a_login_is_shown_as_a_bearer_whatever_the_api(make_asker):
    mine = {"Authorization": f"Bearer {TOKEN}", "anthropic-beta": "oauth-2025-04-20"}
    with play(Step("hi")) as api:
        login = replace(ANTHROPIC, base_url=api.url, bearer=True)
        assert make_asker(login).ask(HELLO, headers=mine).status == 200
    sent = api.asked[0].headers
    assert (sent["authorization"], sent.get("x-api-key")) == (f"Bearer {KEY}", None)
    assert sent["anthropic-beta"] == "oauth-2025-04-20"


@pytest.mark.parametrize(
    ("key", "said"), [("sk-12345", b"it is [redacted]!"), ("it", b"it is it!")]
)
def test_a_key_is_taken_out_of_answers_unless_it_is_as_short_as_a_word(make_asker, key, said):
    with play(Step(f"it is {key}!")) as api:
        asker = make_asker(replace(ANTHROPIC, base_url=api.url, key=key))
        assert said in asker.ask(HELLO).body


def test_a_server_that_wants_no_key_gets_none(make_asker):
    with play(Step("hi")) as api:
        local = Route("openai", api.url + "/v1", "", ("qwen*",), provider="ollama")
        asker = make_asker(local)
        asker.ask({**CHAT, "model": "qwen9"}, "/v1/chat/completions")
    assert api.asked[0].key == ""
    assert asker.answered[0].model == "ollama:qwen9"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[1]", b"\xff", b'{"model": 1}', b'{"model": "claude-x", "model": "m"}'),
        b'{"model": "claude-x", "tools": [], "messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"model": "claude-x", "tools": [{}, 1]}',
    ],
)
def test_a_body_that_is_no_question_is_refused(make_asker, body):
    assert make_asker(ANTHROPIC).ask(body).status == 400


def test_a_packed_body_is_refused(make_asker):
    headers = {"x-api-key": TOKEN, "content-encoding": "gzip"}
    assert make_asker(ANTHROPIC).ask(headers=headers).status == 415


def test_a_query_that_no_client_sends_is_refused(make_asker):
    assert make_asker(ANTHROPIC).ask(path="/v1/messages?a=%0d%0a&b=#/../x").status == 400


def test_of_two_servers_of_one_api_the_first_that_has_the_model_answers(make_asker):
    with play() as other, play(Step("hi")) as api:
        one = Route("openai", other.url + "/v1", KEY, ("gpt-*",))
        two = Route("openai", api.url + "/v1", KEY, ("*",))
        asker = make_asker(one, two)
        assert asker.ask({**CHAT, "model": "qwen9"}, "/v1/chat/completions").status == 200


@pytest.mark.parametrize("value", ["caf\u00e9", "\u2603 snow".encode().decode("latin-1")])
def test_a_header_in_any_encoding_comes_through(make_asker, value):
    with play(Step("hi", fault=Fault(headers={"x-note": value}))) as api:
        answer = make_asker(*routes(api)).ask({**HELLO, "stream": True})
    assert (answer.status, answer.headers["x-note"]) == (200, value)


def test_a_key_is_not_in_what_a_route_shows():
    assert KEY not in repr(ANTHROPIC)


def test_web_tools_do_not_leave_and_the_rest_of_the_request_does(make_asker):
    search = {"type": "web_search_20250305", "name": "web_search"}
    body = {**HELLO, "tools": [search, {"name": "Read", "input_schema": {}}], "temperature": 0.1}
    with play(Step("hi")) as api:
        make_asker(*routes(api)).ask(body)
    assert api.asked[0].body == {**body, "tools": body["tools"][1:]}


def test_the_query_goes_along(make_asker):
    with play(Step("hi")) as api:
        make_asker(*routes(api)).ask(path="/v1/messages?beta=true")
    assert api.asked[0].path == "/v1/messages?beta=true"


def test_counting_tokens_and_asking_whether_anyone_is_there_cost_nothing(make_asker):
    with play() as api:
        asker = make_asker(*routes(api))
        assert asker.ask(path="/v1/messages/count_tokens").json["input_tokens"] > 0
        assert asker.ask(b"", "/", "HEAD", {"accept": "*/*"}).status == 200
    assert asker.models.used() == Used()


@pytest.mark.parametrize("header", [{}, {"x-api-key": "wrong"}, {"authorization": TOKEN}])
def test_without_the_token_nothing_is_served(make_asker, header):
    with play() as api:
        asker = make_asker(*routes(api))
        answer = asker.ask(headers={"accept": "*/*", **header})
    assert (answer.status, answer.headers["x-should-retry"]) == (401, "false")
    assert answer.json == {
        "type": "error",
        "error": {
            "type": "authentication_error",
            "message": "The token of this run is missing or wrong.",
        },
    }
    assert asker.models.used() == Used(refused=1)


def test_a_streamed_answer_is_passed_on_as_it_comes(make_asker):
    fault = Fault(after=3, then="stall")
    with play(Step("hello", fault=fault)) as api:
        read_until(b"content_block_delta", make_asker(*routes(api)).begin(STREAMED))


def test_a_client_that_leaves_ends_the_request_upstream(make_asker):
    with play(Step("hello", fault=Fault(after=3, then="stall"))) as api:
        asker = make_asker(*routes(api))
        read_until(b"content_block_delta", asker.begin(STREAMED))  # nothing more is on its way
        asker.hang_up()
        assert asker.answered.came.wait(10)
    assert [one.estimated for one in asker.answered] == [True]


@every_api
@pytest.mark.parametrize("then", ["close", "reset", "end"])
def test_a_cut_stream_is_counted_as_an_estimate(make_asker, path, then):
    text = "a long answer " * 40
    with play(Step(text, fault=Fault(after=12, then=then))) as api:
        asker = make_asker(*routes(api))
        response = asker.begin({**APIS[path], "stream": True}, path)
        assert (b'"api_error"' in response.read()) == (then != "end")
    (answered,) = asker.answered
    assert answered.estimated
    assert answered.usage.input_tokens > 0
    assert 20 <= answered.usage.output_tokens <= 60


def test_a_provider_that_is_down_is_502_and_not_to_be_asked_again(make_asker):
    asker = make_asker(ANTHROPIC)
    answer = asker.ask()
    assert (answer.status, answer.headers["x-should-retry"]) == (502, "false")
    assert "127.0.0.1 does not answer" in answer.json["error"]["message"]
    assert asker.models.used() == Used(requests=1)


def test_a_provider_that_hangs_up_is_counted_as_asked(make_asker):
    with play(Step(fault=Fault(instead="close"))) as api:
        asker = make_asker(*routes(api))
        assert asker.ask().status == 502
    assert asker.models.used().estimated == 1


def test_an_error_of_the_provider_comes_through_and_costs_nothing(make_asker):
    with play(Step(fault=Fault(status=529, error="overloaded_error"))) as api:
        asker = make_asker(*routes(api))
        answer = asker.ask()
    assert (answer.status, answer.json["error"]["type"]) == (529, "overloaded_error")
    assert asker.models.used() == Used(requests=1)


def test_closing_the_gateway_ends_a_stream_by_name(make_asker):
    with play(Step("hello", fault=Fault(after=3, then="stall"))) as api:
        asker = make_asker(*routes(api))
        response = asker.begin({**HELLO, "stream": True})
        first = response.read1()
        asker.gateway.close()
        rest = response.read()
    assert b"message_start" in first
    assert b"event: error" in rest
    assert b"The gateway was closed" in rest


def test_a_redirection_is_not_followed_with_the_key(make_asker):
    with play() as elsewhere:
        there = {"location": elsewhere.url + "/v1/messages"}
        with play(Step(fault=Fault(status=302, instead="html", headers=there))) as api:
            asker = make_asker(*routes(api))
            assert asker.ask().status == 302
    assert elsewhere.requests == []
    assert asker.models.used() == Used(requests=1)


def test_a_provider_that_cannot_prove_its_name_gets_nothing(make_asker):
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(secure)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        port = server.getsockname()[1]
        arrived = pool.submit(shaken, secure, server)
        answer = make_asker(replace(ANTHROPIC, base_url=f"https://127.0.0.1:{port}")).ask()
        assert "does not answer: ConnectError" in answer.json["error"]["message"]
        assert isinstance(arrived.result(10), ssl.SSLError)


def shaken(secure, server):
    """What came of a handshake, or its failure."""
    plain, _ = server.accept()
    try:
        with secure.wrap_socket(plain, server_side=True) as sock:
            return sock.recv(9)
    except ssl.SSLError as error:
        plain.close()
        return error


@pytest.mark.parametrize("budget", [Budget(requests=1), Budget(input_tokens=5)])
def test_requests_at_the_same_time_share_one_budget(make_asker, budget):
    body = json.dumps(HELLO).encode()
    head = f"POST /v1/messages HTTP/1.1\r\nHost: a\r\nx-api-key: {TOKEN}\r\nConnection: close\r\n"
    ask = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with play(Step("hi")) as api:
        asker = make_asker(*routes(api), budget=budget)
        clients = [asker.connect(asker.gateway) for _ in range(12)]
        for client in clients:
            client.sock.sendall(ask)
        answers = sorted(client.rest()[:12] for client in clients)
    assert answers == [b"HTTP/1.1 200"] + [b"HTTP/1.1 400"] * 11
    assert len(api.asked) == 1


@pytest.mark.parametrize("key", [KEY + "\n", "a b", "kéy"])
def test_a_key_that_no_header_holds_is_refused_before_anything_is_sent(key):
    with pytest.raises(ValueError, match="holds characters no key has") as refused:
        replace(ANTHROPIC, key=key)
    assert key.strip() not in str(refused.value)


def test_n01_a_header_that_cannot_be_sent_is_not_quoted_to_the_sandbox(make_asker):
    route = replace(ANTHROPIC)
    object.__setattr__(route, "key", KEY + "\n")  # whatever let it pass
    with play() as api:
        object.__setattr__(route, "base_url", api.url)
        answer = make_asker(route).ask()
    assert (answer.status, KEY.encode() in answer.body) == (502, False)
