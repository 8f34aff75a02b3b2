"""An answer that comes whole is never larger than the budgets leave, whoever else asks."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.gateway import ceiling, chat, messages, responses
from sandbox.gateway.budget import Budget, Ledger, Used
from sandbox.gateway.cassette import read
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.http import RefusedError
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.recorder import Recorder
from sandbox.gateway.routes import Route
from sandbox.gateway.tape import RecordedUpstream
from sandbox.gateway.usage import Usage
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.sandbox.gateway.conftest import HELLO, TOKEN, Asker
from tests.sandbox.gateway.test_budget import flat
from tests.sandbox.gateway.test_models import APIS, every_api, routes

LIMITS = {
    "/v1/messages": "max_tokens",
    "/v1/responses": "max_output_tokens",
    "/v1/chat/completions": "max_completion_tokens",
}
BOUND = Budget(output_tokens=40)
MUCH = {**HELLO, "max_tokens": 9000}


def limits(request):
    """The limits on its answer that a request came with."""
    return {key: value for key, value in request.body.items() if "tokens" in key}


@every_api
def test_a_limit_beyond_the_budget_is_lowered(make_asker, path):
    with play(Step("hi")) as api:
        asker = make_asker(*routes(api), budget=BOUND)
        assert asker.ask({**APIS[path], LIMITS[path]: 9000}, path).status == 200
    assert limits(api.asked[0]) == {LIMITS[path]: 40}


@every_api
def test_a_limit_within_the_budget_goes_on_untouched(make_asker, path):
    with play(Step("hi")) as api:
        make_asker(*routes(api), budget=BOUND).ask({**APIS[path], LIMITS[path]: 30}, path)
    assert limits(api.asked[0]) == {LIMITS[path]: 30}


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
def test_a_question_without_a_limit_gets_one_when_the_budget_is_near(make_asker, path):
    with play(Step("hi"), Step("hi")) as api:
        make_asker(*routes(api), budget=Budget(output_tokens=10**6)).ask(APIS[path], path)
        make_asker(*routes(api), budget=BOUND).ask(APIS[path], path)
    assert [limits(request) for request in api.asked] == [{}, {LIMITS[path]: 40}]


def test_a_compatible_server_gets_the_limit_that_all_know(make_asker):
    with play(Step("hi")) as api:
        local = Route("openai", api.url + "/v1", "", ("*",), provider="ollama")
        body, path = APIS["/v1/chat/completions"], "/v1/chat/completions"
        make_asker(local, budget=BOUND).ask(body, path)
    assert limits(api.asked[0]) == {"max_tokens": 40}


def test_a_server_that_refuses_so_large_a_limit_is_asked_with_a_smaller_one(make_asker):
    refused = Step(fault=Fault(status=400, message="max_completion_tokens is too large"))
    path = "/v1/chat/completions"
    with play(refused, refused, Step("hi")) as api:
        asker = make_asker(*routes(api), budget=Budget(output_tokens=20_000))
        assert asker.ask(APIS[path], path).status == 200
    sent = [limits(request)["max_completion_tokens"] for request in api.asked]
    assert sent == [20_000, 16 << 10, 8 << 10]
    assert asker.models.used().requests == 1


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/v1/messages", {"max_tokens": 4096, "thinking": {"budget_tokens": 2000}}),
        ("/v1/responses", {}),  # the least limit of that API is 16
    ],
)
def test_what_is_too_little_for_an_answer_is_nothing(make_asker, path, more):
    left = Budget(output_tokens=12 if path == "/v1/responses" else 2000)
    with play() as api:
        asker = make_asker(*routes(api), budget=left)
        answer = asker.ask({**APIS[path], **more}, path)
    said = f"The run's budget of {left.output_tokens} output tokens is used up."
    assert (answer.status, answer.json["error"]["message"]) == (400, said)
    assert asker.models.used() == Used(refused=1)


def test_thinking_that_still_fits_is_asked_for(make_asker):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with play(Step("hi")) as api:
        asker = make_asker(*routes(api), budget=Budget(output_tokens=1025))
        assert asker.ask({**MUCH, "thinking": thinking}).status == 200
    assert (limits(api.asked[0]), api.asked[0].body["thinking"]) == ({"max_tokens": 1025}, thinking)


def test_a_cost_budget_lowers_the_limit_too(make_asker):
    with play(Step("hi", usage=Usage(9, 20)), Step("hi", usage=Usage(9, 10))) as api:
        price = lambda model, usage: usage.output_tokens / 64  # noqa: E731 - exact in binary
        asker = make_asker(*routes(api), budget=Budget(cost=30 / 64), price=price)
        assert [asker.ask(MUCH).status for _ in range(3)] == [200, 200, 400]
    assert [limits(request)["max_tokens"] for request in api.asked] == [30, 10]
    assert asker.models.used().cost == 30 / 64


def test_what_the_question_costs_is_not_left_for_the_answer(make_asker):
    long = {**MUCH, "messages": [{"role": "user", "content": "many words " * 1000}]}

    def price(model, usage):
        return (usage.input_tokens + usage.output_tokens) / 1000

    with play(Step("hi", usage=Usage(2800, 5))) as api:
        asker = make_asker(*routes(api), budget=Budget(cost=3.0), price=price)
        assert asker.ask(long).status == 200
        assert asker.ask(long).status == 400
    assert 200 < limits(api.asked[0])["max_tokens"] < 250


def test_an_unknown_price_leaves_the_limit_to_the_tokens(make_asker):
    body, path = {**APIS["/v1/responses"], "max_output_tokens": 9000}, "/v1/responses"
    with play(Step("hi"), Step("hi")) as api:
        make_asker(*routes(api), budget=Budget(cost=0.1), price=flat).ask(body, path)
        both = Budget(cost=0.1, output_tokens=40)
        make_asker(*routes(api), budget=both, price=flat).ask(body, path)
    assert [limits(request)["max_output_tokens"] for request in api.asked] == [9000, 40]


def test_of_questions_at_once_each_gets_what_the_others_leave(make_asker):
    steps = [Step("hi", usage=Usage(9, 15), fault=Fault(delay=0.05))] * 3
    with play(*steps) as api, ThreadPoolExecutor(8) as pool:
        asker = make_asker(*routes(api), budget=BOUND)
        answers = [pool.submit(asker.ask, MUCH) for _ in range(8)]
        assert sorted(answer.result().status for answer in answers) == [200] * 3 + [400] * 5
    assert [limits(request)["max_tokens"] for request in api.asked] == [40, 25, 10]


def test_questions_that_fit_together_do_not_wait_for_each_other(make_asker):
    with play(Step(fault=Fault(instead="hang")), Step("hi")) as api:
        asker = make_asker(*routes(api), budget=BOUND)
        asker.open().request("POST", "/v1/messages", json.dumps(HELLO), {"x-api-key": TOKEN})
        while not api.asked:
            pass
        assert asker.ask({**HELLO, "max_tokens": 31}).status == 200


def test_a_stream_waits_for_what_is_only_held_and_goes_on_whole(make_asker):
    held = Step("hi", usage=Usage(9, 2), fault=Fault(delay=0.5))
    with play(held, Step("a long answer", usage=Usage(9, 30))) as api, ThreadPoolExecutor(1) as one:
        asker = make_asker(*routes(api), budget=BOUND)
        whole = one.submit(asker.ask, {**HELLO, "max_tokens": 39})
        while not api.asked:
            pass
        streamed = asker.ask({**HELLO, "stream": True})
        assert whole.result().status == 200
    assert [each.usage.output_tokens for each in asker.answered] == [2, 30]  # in that order
    assert (streamed.status, b"message_stop" in streamed.body) == (200, True)
    assert asker.models.used().usage.output_tokens == 32


def test_who_waits_for_room_may_leave(make_asker):
    with play(Step(fault=Fault(instead="hang"))) as api:
        asker = make_asker(*routes(api), budget=BOUND)
        first = asker.open()
        first.request("POST", "/v1/messages", json.dumps(MUCH), {"x-api-key": TOKEN})
        while not api.asked:
            pass
        asker.open().request("POST", "/v1/messages", json.dumps(MUCH), {"x-api-key": TOKEN})
        asker.sock.shutdown(socket.SHUT_WR)
        assert asker.sock.recv(1) == b""
        first.sock.close()
        assert asker.answered.came.wait(10)
    assert asker.models.used().requests == 1


def test_the_end_of_the_time_ends_the_waiting(make_asker):
    with play(Step(fault=Fault(instead="hang"))) as api, ThreadPoolExecutor(2) as pool:
        asker = make_asker(*routes(api), budget=Budget(output_tokens=40, seconds=1))
        answers = [answer.result() for answer in [pool.submit(asker.ask, MUCH) for _ in "ab"]]
    assert [answer.status for answer in answers] == [400, 400]
    assert all("budget of 1 seconds" in one.json["error"]["message"] for one in answers)


def test_a_recording_keeps_what_was_asked(connect, tmp_path):
    upstream = RecordedUpstream(Provider(), Recorder(tmp_path), TOKEN)
    with play(Step("hi")) as api:
        models = Models(routes(api), TOKEN, upstream, Ledger(BOUND, flat))
        with open_gateway(models) as gateway:
            Asker(connect, gateway, models, []).ask(MUCH)
    (exchange,) = read(tmp_path)
    assert (exchange.body["max_tokens"], limits(api.asked[0])) == (9000, {"max_tokens": 40})


def test_the_choices_of_an_answer_share_the_room():
    body = {"n": 4, "max_tokens": 100, "max_completion_tokens": -1}
    route = Route("openai", "", "", ("*",))
    assert ceiling.wanted({**body, "max_completion_tokens": None}, chat) == 400
    (lowered,) = ceiling.lowered(body, chat, route, 42)
    assert lowered == {"n": 4, "max_tokens": 10, "max_completion_tokens": 10}
    assert list(ceiling.lowered(body, chat, route, 3)) == []


@pytest.mark.parametrize("limit", [0, -1])
@every_api
def test_a_limit_that_some_read_as_none_is_lowered_too(make_asker, path, limit):
    with play(Step("hi")) as api:
        asker = make_asker(*routes(api), budget=BOUND)
        assert asker.ask({**APIS[path], LIMITS[path]: limit}, path).status == 200
    assert limits(api.asked[0]) == {LIMITS[path]: 40}


@pytest.mark.parametrize("limit", ["9", True, 9.5, [9]])
def test_a_limit_that_is_no_number_is_refused(limit):
    with pytest.raises(RefusedError, match="no whole number"):
        ceiling.wanted({"max_tokens": limit}, messages)


def test_whatever_is_not_surely_a_stream_comes_whole():
    bodies = [{}, {"stream": None}, {"stream": 1}, {"stream": "true"}, {"stream": True}]
    assert [ceiling.whole(body) for body in bodies] == [True] * 4 + [False]
    assert ceiling.wanted({}, responses) == ceiling.LARGEST
