"""What goes wrong with models and streams: each has its outcome, soon, and what was done stays."""

import json

import pytest
from msgspec.structs import replace

from orchestrator.events import Warned
from orchestrator.outcome import Outcome
from orchestrator.pricing import Usage
from orchestrator.settings import Settings
from orchestrator.task import Limits
from sandbox.gateway.relay import PORT
from tests.api import messages, responses
from tests.api.scenario import Fault, Step
from tests.delegates.test_runs import ADD, asks, last, scenario

SOON = 30.0
"""Seconds, on a machine that does other things, too."""
AUTH = 10.0
SILENCE = 20.0
"""Long enough for a program to start on such a machine."""


def limited(code: str, **more: object) -> Step:
    body = {"type": "error", "error": {"type": code, "code": code, "message": "no more", **more}}
    return Step(raw=(json.dumps(body),), fault=Fault(status=429))


def failing(status: int, error: str, **headers: str) -> Step:
    return Step(fault=Fault(status=status, error=error, headers=headers))


def instead(what: str) -> Step:
    return Step("Done.", fault=Fault(instead=what))


def broken(then: str) -> Step:
    return Step("Done.", fault=Fault(after=2, then=then))


FAILURES = {
    "no such model": failing(404, "not_found_error"),
    "too large a request": failing(413, "request_too_large"),
    "a bad request": failing(400, "invalid_request_error"),
    "no credit": failing(402, "billing_error"),
    "no money": limited("insufficient_quota"),
    "overloaded": failing(529, "overloaded_error"),
    "an error of the server": failing(500, "api_error"),
    "unavailable": failing(503, "api_error"),
    "reset": instead("reset"),
    "closed": instead("close"),
    "HTML": instead("html"),
    "a refusal": Step("I will not.", stop="refused"),
    "cut off at its longest": Step("And so on and", stop="length"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_model_that_fails_is_an_error_and_what_was_done_stays(desk, worker, what):
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=FAILURES[what]))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.WORKER_ERROR, 1)
    assert last(ran).reason == ("refused" if what == "a refusal" else "failed")
    assert f"127.0.0.1:{PORT}" not in ran.record.message  # our gateway, which nobody can check
    assert ran.took < SOON


@pytest.mark.parametrize(
    "step", [failing(401, "authentication_error"), failing(403, "permission_error")]
)
def test_a_key_that_is_refused_is_told_within_ten_seconds(desk, worker, step):
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=step))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.AUTH, 1)
    variable = {"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY"}[worker]
    assert f"({step.fault.status}): set {variable}" in ran.record.message
    assert ran.took < AUTH
    assert len(ran.asked) <= 3  # Codex asks once more, if it is not stopped first


@pytest.mark.parametrize(
    "step",
    [
        failing(429, "rate_limit_error", **{"retry-after": "3600"}),
        limited("usage_limit_reached", resets_in_seconds=3600),
    ],
)
def test_a_limit_that_lasts_is_told_at_once_with_its_end(desk, worker, step):
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=step))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.RATE_LIMITED, 1)
    assert (last(ran).until is not None, len(ran.asked)) == (True, 2)
    assert ran.took < SOON


def test_a_limit_that_passes_is_waited_for(desk, worker):
    steps = (asks(worker, ADD), failing(429, "rate_limit_error", **{"retry-after": "2"}))
    ran = desk.run(worker, scenario(*steps, Step("Done.")))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 1)
    waits = [event.text for event in ran.told(Warned)]
    assert waits == ["the provider's rate or usage limit is reached; it is asked again in 2 s"]


def test_a_limit_without_an_end_is_waited_for_no_longer_than_the_agent_would(desk, worker):
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=failing(429, "rate_limit_error")))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.RATE_LIMITED, 1)
    waits = [event.text for event in ran.told(Warned) if "asked again" in event.text]
    assert [wait.split()[-2] for wait in waits] == ["2", "4", "8", "16"]
    assert len(ran.asked) == 6


@pytest.mark.parametrize("then", ["close", "reset", "end", "error", "garbage"])
def test_a_broken_stream_is_asked_for_again(desk, worker, then):
    """Claude Code then asks for an answer in one piece, which this server can give."""
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=broken(then)))
    ends = {"claude": Outcome.DONE, "codex": Outcome.WORKER_ERROR}
    assert (ran.record.outcome, len(ran.commits)) == (ends[worker], 1)
    assert (len(ran.asked) > 2, ran.took < SOON) == (True, True)


def test_an_answer_in_one_piece_is_what_only_claude_takes(desk, worker):
    ran = desk.run(worker, scenario(asks(worker, ADD), rest=instead("json")))
    ends = {"claude": Outcome.DONE, "codex": Outcome.WORKER_ERROR}
    assert (ran.record.outcome, len(ran.commits)) == (ends[worker], 1)


def test_a_stream_that_is_cut_after_its_call_may_run_it_twice_and_the_tree_counts(desk, worker):
    log = asks(worker, "echo once more >> log.txt")
    api, left = {"claude": (messages, 2), "codex": (responses, 1)}[worker]
    whole = len(list(api.frames(log, 1, "")))
    cut = replace(log, fault=Fault(after=whole - left, then="close"))
    ran = desk.run(worker, scenario(cut, log, Step("Done.")))
    assert ran.record.outcome is Outcome.DONE
    assert ran.file("log.txt") == b"once more\n" * 2


@pytest.mark.parametrize("fault", [Fault(instead="hang"), Fault(after=3, then="stall")])
def test_a_model_that_says_no_more_is_a_stall(desk, worker, fault):
    stated = Settings(limits=Limits(silence=SILENCE))
    ran = desk.run(
        worker, scenario(asks(worker, ADD), rest=Step("Done.", fault=fault)), stated=stated
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.STALLED, 1)
    assert ran.took < SILENCE + SOON


def test_a_provider_that_is_not_there_is_an_error(desk, worker):
    ran = desk.run(worker, scenario(), address="http://127.0.0.1:9")
    assert (ran.record.outcome, ran.took < SOON) == (Outcome.WORKER_ERROR, True)
    assert ran.record.message.startswith("No connection to ")
    assert " at http://127.0.0.1:9" in ran.record.message
    assert ": 127.0.0.1 does not answer: " in ran.record.message
    assert "_BASE_URL changes the address" in ran.record.message


def test_when_every_command_fails_its_tools_are_broken(desk, worker):
    failing = [asks(worker, "exit 9")] * 3
    ran = desk.run(worker, scenario(*failing, Step("Done.")))
    assert ran.record.outcome is Outcome.TOOL_SANDBOX_BROKEN


def test_one_command_that_fails_says_nothing_of_the_tools(desk, worker):
    ran = desk.run(worker, scenario(asks(worker, "exit 9"), Step("It cannot be mended.")))
    assert (ran.record.outcome, ran.record.said) == (Outcome.NO_CHANGE, "It cannot be mended.")


def test_tokens_that_are_read_are_a_budget(desk, worker):
    large = asks(worker, ADD, usage=Usage(100_000, 20))
    ran = desk.run(worker, scenario(rest=large), input_tokens=150_000)
    assert (ran.record.outcome, last(ran).reason) == (Outcome.BUDGET, "input_tokens")
    assert (len(ran.asked), len(ran.commits)) == (2, 1)


def test_an_answer_that_is_as_long_as_one_may_be_is_a_budget_of_claude_s(desk):
    stated = Settings(limits=Limits(output_tokens=1000))
    endless = Step("And so on and", stop="length", usage=Usage(100, 1000))
    ran = desk.run("claude", scenario(asks("claude", ADD), rest=endless), stated=stated)
    assert (ran.record.outcome, last(ran).reason) == (Outcome.BUDGET, "output_tokens")
    assert {request.body["max_tokens"] for request in ran.asked if request.asked.tools} == {1000}
