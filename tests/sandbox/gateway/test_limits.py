"""A provider's rate and usage limits: waited for on the host, or told at once."""

import json
import time

import pytest

from sandbox.gateway.provider import Waiting
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.sandbox.gateway.test_models import APIS, every_api, routes


def limited(**headers):
    return Step(fault=Fault(status=429, error="rate_limit_error", headers=headers))


def test_a_limit_is_told_at_once_and_recorded(make_asker):
    with play(limited(**{"retry-after": "60", "x-should-retry": "true"})) as api:
        asker = make_asker(*routes(api))
        answer = asker.ask()
    assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    assert answer.headers["x-should-retry"] == "false"
    used = asker.models.used()
    assert used.limited
    assert used.until == pytest.approx(time.time() + 60, abs=10)


def test_a_short_limit_is_waited_for(make_asker):
    waits = []
    with play(limited(**{"retry-after-ms": "50"}), Step("hi")) as api:
        asker = make_asker(*routes(api), patience=5.0, on_wait=waits.append)
        assert asker.ask().status == 200
    assert not asker.models.used().limited
    assert [type(wait) for wait in waits] == [Waiting]


def test_patience_ends(make_asker):
    with play(*[limited(**{"retry-after-ms": "60"})] * 2) as api:
        assert make_asker(*routes(api), patience=0.1).ask().status == 429


def test_a_limit_that_no_waiting_cures_is_not_waited_for(make_asker):
    unpaid = json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}})
    with play(Step(raw=(unpaid,), fault=Fault(status=429))) as api:
        assert make_asker(*routes(api), patience=60.0).ask().status == 429


def test_an_answer_ends_a_limit(make_asker):
    with play(limited(), Step("hi")) as api:
        asker = make_asker(*routes(api))
        assert [asker.ask().status, asker.ask().status] == [429, 200]
    assert not asker.models.used().limited


@every_api
def test_a_limit_that_is_told_within_a_stream_is_recorded(make_asker, path):
    fault = Fault(after=2, then="error", error="rate_limit_error")
    with play(Step("hello", fault=fault)) as api:
        asker = make_asker(*routes(api))
        assert b"rate_limit_error" in asker.ask({**APIS[path], "stream": True}, path).body
    assert asker.models.used().limited
