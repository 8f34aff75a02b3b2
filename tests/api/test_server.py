"""The played API keeps its own promises: a scenario that is not played as written fails."""

import gzip
import http.client
import json
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.api.scenario import Call, Expect, Fault, Scenario, Step, read
from tests.api.server import play

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
TOOLS = [{"name": "Read", "input_schema": {}}]


def send(api, method="POST", path="/v1/messages?beta=true", body=None, headers=None):
    """One request on a connection of its own; the status and the raw body of its answer."""
    with closing(http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=10)) as connection:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()


def ask(api, **more):
    return send(api, body=json.dumps({**BODY, **more}))


def test_an_answer_that_is_not_streamed_is_one_document():
    with play(Step("hi", (Call("Read", {"file_path": "/a"}),))) as api:
        status, body = ask(api)
    assert status == 200
    assert json.loads(body)["content"] == [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "toolu_1_1", "name": "Read", "input": {"file_path": "/a"}},
    ]


def test_a_streamed_answer_names_every_event():
    with play(Step("hi")) as api:
        _, body = ask(api, stream=True)
    lines = body.decode().splitlines()
    assert [line.removeprefix("event: ") for line in lines if line.startswith("event: ")] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_step_that_was_not_played_fails():
    with pytest.raises(AssertionError, match="1 steps were not played"), play(Step("hi")):
        pass


def test_a_step_too_many_fails():
    with pytest.raises(AssertionError, match=r"there is no step 1; asked: hello"), play() as api:
        assert ask(api)[0] == 400


@pytest.mark.parametrize(
    "expect",
    [
        Expect(said=("bye",)),
        Expect(system="You are"),
        Expect(tools=("Write",)),
        Expect(model="other"),
        Expect(key="secret"),
    ],
)
def test_a_missed_expectation_fails(expect):
    with (
        pytest.raises(AssertionError, match="step 1 expects"),
        play(Step("hi", expect=expect)) as api,
    ):
        assert ask(api, tools=TOOLS)[0] == 400


def test_requests_without_tools_may_be_answered_aside():
    with play(Scenario((Step("hi"),), side_answers=True)) as api:
        aside, step = ask(api)[1], ask(api, tools=TOOLS)[1]
    assert [json.loads(body)["content"][0]["text"] for body in (aside, step)] == ["ok", "hi"]


def test_a_scenario_is_read_from_a_file(tmp_path):
    step = '{"text": "hi", "expect": {"said": ["hello"]}, "fault": {"status": 529}}'
    (tmp_path / "busy.json").write_text(f'{{"steps": [{step}]}}')
    expected = Step("hi", expect=Expect(said=("hello",)), fault=Fault(status=529))
    assert read(tmp_path / "busy.json") == Scenario((expected,))
    with play(tmp_path / "busy.json") as api:
        assert ask(api)[0] == 529


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("HEAD", "/", {}, 200),
        ("GET", "/v1/models?limit=1", {}, 200),
        ("GET", "/v1/responses", {"Upgrade": "websocket"}, 426),
        ("GET", "/elsewhere", {}, 404),
        ("POST", "/elsewhere", {}, 404),
        ("POST", "/v1/messages/count_tokens", {}, 200),
    ],
)
def test_what_clients_ask_besides_is_answered_without_a_step(method, path, headers, status):
    with play() as api:
        assert send(api, method, path, headers=headers)[0] == status
    assert [(request.method, request.path) for request in api.requests] == [(method, path)]


def test_bodies_may_come_packed_and_in_chunks():
    packed = gzip.compress(json.dumps(BODY).encode())
    with play(Step("hi", expect=Expect(said=("hello",)))) as api:
        pieces = iter([packed[:10], packed[10:]])
        assert send(api, body=pieces, headers={"content-encoding": "gzip"})[0] == 200


def test_a_delay_comes_before_the_answer():
    with play(Step("hi", fault=Fault(delay=0.05))) as api:
        assert ask(api)[0] == 200


def test_a_request_is_logged_with_key_prompt_and_results():
    result = {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
    messages = [*BODY["messages"], {"role": "assistant", "content": []}]
    messages.append({"role": "user", "content": [result, {"type": "text", "text": "well?"}]})
    with play(Step("hi")) as api:
        body = json.dumps({**BODY, "messages": messages, "tools": TOOLS, "system": "be brief"})
        send(api, body=body, headers={"x-api-key": "key-1"})
    request = api.requests[0]
    assert (request.key, request.asked.system, request.asked.tools) == (
        "key-1",
        "be brief",
        ("Read",),
    )
    assert request.asked.said == "well?\nno"
