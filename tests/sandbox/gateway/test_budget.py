"""Budgets bind before a request is sent, and while its answer streams."""

import threading

import pytest

from sandbox.gateway.budget import Budget, Ledger, Spent, Used
from sandbox.gateway.usage import Usage
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.sandbox.gateway.conftest import HELLO
from tests.sandbox.gateway.test_models import APIS, every_api, routes

STREAMED = {**HELLO, "stream": True}
SPENT = Usage(100, 20)


def flat(model, usage):
    """A price list: a dollar for each 100 tokens of output of the models that have a price."""
    return usage.output_tokens / 100 if model.startswith("anthropic:") else None


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(requests=1), "budget of 1 requests is used up"),
        (Budget(answers=1), "budget of 1 answers is used up"),
        (Budget(input_tokens=100), "budget of 100 input tokens is used up"),
        (Budget(output_tokens=20), "budget of 20 output tokens is used up"),
        (Budget(cost=0.2), "budget of 0.2 US dollars is used up"),
    ],
)
def test_a_spent_budget_refuses_the_next_request_before_it_is_sent(make_asker, budget, said):
    with play(Step("hi", usage=SPENT)) as api:
        asker = make_asker(*routes(api), budget=budget, price=flat)
        assert asker.ask().status == 200
        answer = asker.ask()
    assert (answer.status, answer.headers["x-should-retry"]) == (400, "false")
    assert answer.json["error"]["type"] == "invalid_request_error"
    assert said in answer.json["error"]["message"]
    assert asker.models.used() == Used(1, 1, SPENT, 0.2)


@every_api
def test_a_stream_that_passes_the_budget_is_cut_with_the_error_of_its_api(make_asker, path):
    with play(Step("a long answer " * 400, usage=Usage(10, 5000))) as api:
        asker = make_asker(*routes(api), budget=Budget(output_tokens=50))
        body = asker.ask({**APIS[path], "stream": True}, path).body
    (answered,) = asker.answered
    assert answered.cut == "The run's budget of 50 output tokens is used up."
    assert (answered.estimated, 50 < answered.usage.output_tokens < 60) == (True, True)
    last = body.decode().rstrip().rsplit("\n\n", 1)[-1]
    assert answered.cut in last
    assert "invalid_request_error" in last


def test_a_cost_budget_cuts_in_mid_stream(make_asker):
    with play(Step("a long answer " * 400, usage=Usage(10, 5000))) as api:
        asker = make_asker(*routes(api), budget=Budget(cost=0.5), price=flat)
        assert b"budget of 0.5 US dollars" in asker.ask(STREAMED).body
    assert 0.5 < asker.models.used().cost < 0.6


def test_an_unknown_price_is_an_unknown_cost_and_tokens_still_bind(make_asker):
    budget = Budget(cost=0.01, output_tokens=40)
    with play(Step("hi", usage=SPENT), Step("hi", usage=SPENT)) as api:
        asker = make_asker(*routes(api), budget=budget, price=flat)
        path = "/v1/responses"
        assert [asker.ask(APIS[path], path).status for _ in range(3)] == [200, 200, 400]
    assert asker.models.used() == Used(2, 1, Usage(200, 40), None)


def test_the_end_of_the_time_cuts_a_silent_stream(make_asker):
    with play(Step("hello", fault=Fault(after=3, then="stall"))) as api:
        asker = make_asker(*routes(api), budget=Budget(seconds=1))
        body = asker.ask(STREAMED).body
        assert asker.ask().status == 400
    assert b"event: error" in body
    assert b"budget of 1 seconds is used up" in body


def test_the_end_of_the_time_ends_a_request_without_an_answer(make_asker):
    with play(Step(fault=Fault(instead="hang"))) as api:
        asker = make_asker(*routes(api), budget=Budget(seconds=1))
        answer = asker.ask()
    assert (answer.status, "budget of 1 seconds" in answer.json["error"]["message"]) == (
        400,
        True,
    )


def test_a_request_that_no_model_answered_is_no_answer(make_asker):
    with play(Step(fault=Fault(status=500)), Step("hi")) as api:
        asker = make_asker(*routes(api), budget=Budget(answers=1))
        assert [asker.ask().status for _ in range(3)] == [500, 200, 400]


def test_a_budget_that_leaves_too_little_for_an_answer_is_over_for_that():
    ledger = Ledger(Budget(cost=3.0), lambda model, usage: 0.0)
    assert ledger.over() is None
    ledger.refuse(Spent("cost", 3.0))
    ledger.refuse()
    assert ledger.over() == Spent("cost", 3.0)


def test_requests_that_run_count_for_those_that_begin():
    ledger = Ledger(Budget(output_tokens=10), lambda model, usage: None)
    first = ledger.enter("a:b")
    ledger.count(first, Usage(1, 6))
    second = ledger.enter("a:b")
    ledger.count(second, Usage(1, 5))
    assert ledger.spent(before=False) == Spent("output_tokens", 10)
    assert ledger.used() == Used(2, usage=Usage(2, 11), cost=None)


def test_a_ledger_counts_in_any_thread():
    ledger = Ledger(Budget(), lambda model, usage: 0.25)

    def work():
        for _ in range(200):
            entry = ledger.enter("a:b")
            ledger.count(entry, Usage(1, 0))
            ledger.leave(entry, Usage(1, 1), estimated=False)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.used() == Used(800, usage=Usage(800, 800), cost=200.0)
