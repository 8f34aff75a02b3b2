"""Answers that are held back until somebody lets them in."""

import json
import queue
import socket
import time
from dataclasses import replace
from operator import attrgetter

import pytest

from sandbox.gateway import chat, messages, responses
from tests.api.scenario import Fault, Scenario, Step
from tests.api.server import play
from tests.sandbox.gateway.conftest import ANTHROPIC, HELLO, TOKEN

STREAMED = json.dumps({**HELLO, "stream": True}).encode()


@pytest.fixture
def told():
    """The questions that a gateway tells of."""
    return queue.SimpleQueue()


@pytest.fixture
def send(make_asker, told):
    """Send a question to this API, whose answer waits; the connection to read that from."""

    def send(api, on_question=told.put):
        asker = make_asker(replace(ANTHROPIC, base_url=api.url), on_question=on_question)
        connection = asker.open()
        connection.request("POST", "/v1/messages", STREAMED, {"x-api-key": TOKEN})
        return asker, connection

    return send


def test_an_answer_begins_when_it_is_let_in_and_the_model_was_asked_before(send, told):
    with play(Step("hello")) as api:
        asker, connection = send(api)
        question = told.get(timeout=10)
        while not api.asked:
            time.sleep(0.01)
        asker.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            asker.sock.recv(1, socket.MSG_PEEK)
        asker.sock.settimeout(10)
        question.let_in()
        assert b"hello" in connection.getresponse().read()


def test_after_its_first_byte_it_comes_as_it_streams(send, told):
    with play(Step("hello", fault=Fault(after=3, then="stall"))) as api:
        _, connection = send(api)
        told.get(timeout=10).let_in()
        response, seen = connection.getresponse(), b""
        while b"hello" not in seen:
            seen += response.read1()


def test_an_answer_that_nobody_lets_in_begins_by_itself(send, told):
    def shorten(question):
        question.until = time.monotonic() + 0.2
        told.put(question)

    with play(Step("hello")) as api:
        _, connection = send(api, shorten)
        assert b"hello" in connection.getresponse().read()
        assert told.get(timeout=10).late


@pytest.mark.parametrize("end", ["hang_up", "gateway.close"])
def test_whoever_leaves_waits_for_nothing(send, told, end):
    with play(Scenario((), rest=Step("hello"))) as api:
        asker, _ = send(api)
        question = told.get(timeout=10)
        attrgetter(end)(asker)()
        assert asker.answered.came.wait(10)
        asker.gateway.close()
        question.let_in()  # and nobody minds


def test_what_a_question_told_of_is_forgotten_with_its_answer(make_asker, told):
    block = {"type": "tool_result", "tool_use_id": "a", "content": "x" * 1000}
    body = {**HELLO, "messages": [{"role": "user", "content": [block]}]}
    with play(Scenario((), rest=Step("hello"))) as api:
        asker = make_asker(replace(ANTHROPIC, base_url=api.url), on_question=told.put)
        asker.open().request("POST", "/v1/messages", json.dumps(body), {"x-api-key": TOKEN})
        question = told.get(timeout=10)
        assert (dict(question.results), question.over) == ({"a": "x" * 1000}, False)
        asker.hang_up()
        assert asker.answered.came.wait(10)
        asker.gateway.close()
        assert (dict(question.results), question.over) == ({}, True)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (
            messages,
            {
                "messages": [
                    {"role": "user", "content": "go"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "so"},
                            {"type": "tool_result", "tool_use_id": "a", "content": "one"},
                            {
                                "type": "tool_result",
                                "tool_use_id": "b",
                                "content": [
                                    {"type": "text", "text": "two"},
                                    {"type": "image", "source": {}},
                                    {"type": "text", "text": "three"},
                                ],
                            },
                        ],
                    },
                ]
            },
        ),
        (
            responses,
            {
                "input": [
                    {"type": "message", "role": "user", "content": "go"},
                    {"type": "function_call_output", "call_id": "a", "output": "one"},
                    {
                        "type": "custom_tool_call_output",
                        "call_id": "b",
                        "output": [
                            {"type": "input_text", "text": "two"},
                            {"type": "input_text", "text": "three"},
                        ],
                    },
                ]
            },
        ),
        (
            chat,
            {
                "messages": [
                    {"role": "user", "content": "go"},
                    {"role": "tool", "tool_call_id": "a", "content": "one"},
                    {"role": "tool", "tool_call_id": "b", "content": "two\nthree"},
                ]
            },
        ),
    ],
)
def test_a_question_tells_what_tools_gave_back(dialect, body):
    assert dialect.results(body) == {"a": "one", "b": "two\nthree"}


@pytest.mark.parametrize("dialect", [messages, responses, chat])
def test_a_question_of_another_shape_tells_nothing(dialect):
    odd = [None, 7, "text", {"type": "x_output", "call_id": 7, "role": "tool"}, {"content": [3]}]
    for body in ({}, {"messages": odd, "input": odd}, {"messages": {}, "input": "text"}):
        assert dialect.results(body) == {}
