"""What becomes of agents of the Agent Client Protocol, good, bad and hostile: a fake one."""

import json
import os

import pytest

from orchestrator.events import Changed, Raw, Session, Text, ToolFinished, ToolStarted
from orchestrator.outcome import Outcome
from orchestrator.task import Limits
from tests.acp.desk import NOTHING, Desk
from tests.delegates.test_runs import last

APPEND = "run echo changed >> file.txt"


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk.at(tmp_path)


def written(ran, name):
    """What the agent wrote into a file, as JSON."""
    return json.loads(ran.file(name))


def said(ran):
    """What the agent said, as JSON: what has a token in it is blocked in a file."""
    return json.loads("".join(event.text for event in ran.told(Text)))


def kept(ran):
    """The lines of the agent that are kept with the run."""
    return (ran.folder / "artifacts/acp.jsonl").read_bytes().splitlines()


def test_what_it_does_is_told_as_it_happens_and_recorded(desk):
    ran = desk.fake(APPEND)
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Done.")
    assert ran.commits == ["execute: echo changed >> file.txt"]
    assert ran.file("file.txt") == b"changed\n"
    session = Session(id="0b8e5a3c-1f5e-4c1a-9a44-7f6a4f6f2d10", program="fake 1.0")
    assert ran.told(Session) == [session]
    assert [event.text for event in ran.told(Text)] == ["On it.", "Done."]
    (started,), (finished,) = ran.told(ToolStarted), ran.told(ToolFinished)
    assert (started.tool, started.call, finished.call) == ("execute", "c1", "c1")
    assert ran.told(Raw) == []
    assert b'"stopReason": "end_turn"' in kept(ran)[-1]


def test_it_is_told_the_task_and_sees_nothing_of_the_host(desk):
    ran = desk.fake("prompt", apis=("anthropic", "openai"), prompt="mend the sum")
    told = written(ran, "told.json")
    assert told.startswith("mend the sum\n\nYou work in a sealed container")
    assert told.endswith("AGENTS.md:\n| Use tabs.")
    seen = said(ran)
    token = seen["OPENAI_API_KEY"]
    assert token.startswith("run-")
    gateway = "http://127.0.0.1:13128"
    given = {
        "ANTHROPIC_API_KEY": token,
        "ANTHROPIC_BASE_URL": gateway,
        "OPENAI_API_KEY": token,
        "OPENAI_BASE_URL": f"{gateway}/v1",
    }
    assert given.items() <= seen.items()
    assert ran.key not in str(seen)
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert "PYTEST_CURRENT_TEST" not in seen


def test_it_has_the_doors_of_keys_alone(desk):
    seen = said(desk.fake("prompt", apis=("anthropic",)))
    assert {name for name in seen if name.endswith("_KEY")} == {"ANTHROPIC_API_KEY"}


def test_it_is_offered_our_tools(desk):
    (told,) = said(desk.fake("servers"))
    (server,) = told["mcpServers"]
    assert told["cwd"] == "/workspace"
    assert (server["type"], server["name"]) == ("http", "orchestrator")
    assert server["url"] == "http://127.0.0.1:13128/mcp"
    assert server["headers"][0]["value"].startswith("Bearer run-")


def test_permissions_are_given_once_and_nothing_else_is_granted(desk):
    allowed, refused, *others, broken = written(desk.fake("ask"), "answers.json")
    assert allowed["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert refused["result"] == {"outcome": {"outcome": "cancelled"}}
    assert [answer["error"]["code"] for answer in others] == [-32601] * 5
    assert broken["error"]["code"] == -32602


def test_noise_is_kept_and_does_no_harm(desk, capfd):
    ran = desk.fake("noise")
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Done.")
    assert ran.file("file.txt") == b"changed\n"
    assert len(ran.told(Raw)) == 16
    assert b"no json" in kept(ran)
    assert capfd.readouterr() == ("", "")


def test_a_line_of_five_megabytes_is_a_line(desk):
    ran = desk.fake("large")
    assert ran.record.outcome is Outcome.DONE
    assert len(ran.told(Text)[0].text) == 5_000_000


ENDS = {
    "half": (Outcome.WORKER_ERROR, "failed", "ended with status 0, without its last event"),
    "exit": (Outcome.WORKER_ERROR, "failed", "ended with status 3, without its last event"),
    "status": (Outcome.WORKER_ERROR, "failed", "said it was finished, and ended with status 7"),
    "unanswered": (
        Outcome.WORKER_ERROR,
        "failed",
        "no model had answered it: There is nothing to be done (403).",
    ),
    "error": (Outcome.WORKER_ERROR, "failed", "python3: Internal error: out of ideas"),
    "login": (
        Outcome.WORKER_ERROR,
        "failed",
        "the agent refused session/new: Authentication required",
    ),
    "version": (Outcome.WORKER_ERROR, "failed", "speaks version 9 of the Agent Client Protocol"),
    "nameless": (Outcome.WORKER_ERROR, "failed", "an answer that is none of the protocol's"),
    "long": (Outcome.WORKER_ERROR, "failed", "gave its session a name that is none"),
    "dreamt": (Outcome.WORKER_ERROR, "failed", "an answer that is none of the protocol's"),
    "max_tokens": (Outcome.BUDGET, "output_tokens", ""),
    "max_turn_requests": (Outcome.BUDGET, "turns", ""),
    "refusal": (Outcome.WORKER_ERROR, "refused", ""),
    "cancelled": (Outcome.WORKER_ERROR, "failed", "cancelled"),
    "vain": (Outcome.TOOL_SANDBOX_BROKEN, "tools_broken", "nothing that python3 ran"),
    "beg": (Outcome.WORKER_ERROR, "failed", "asks without end"),
    "no such mode": (Outcome.NO_CHANGE, "complete", ""),
}


@pytest.mark.parametrize("mode", ENDS)
def test_each_end_has_its_name(desk, mode):
    outcome, reason, message = ENDS[mode]
    ran = desk.fake(mode)
    assert (ran.record.outcome, last(ran).reason) == (outcome, reason)
    assert message in last(ran).message
    assert ran.took < 30


def test_a_program_that_is_not_there_is_told(desk):
    ran = desk.run(("no-such-agent",), NOTHING)
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert last(ran).message == (
        "no-such-agent could not be started in the sandbox; is it in the image, or in set-up?"
    )


def test_what_is_not_there_behind_another_program_is_told(desk):
    ran = desk.run(("env", "no-such-agent"), NOTHING)
    start, _, words = last(ran).message.partition(" It said: ")
    assert start == "env could not be started in the sandbox; is it in the image, or in set-up?"
    assert "no-such-agent" in words


NO_AGENTS = {
    "cat": (30.0, Outcome.WORKER_ERROR, "cat sent our own messages back: it is no ACP agent"),
    "true": (
        30.0,
        Outcome.WORKER_ERROR,
        'true ended with status 0 before it answered "initialize": is it an ACP agent?',
    ),
    "sleep 1000": (
        3.0,
        Outcome.STALLED,
        'sleep did not answer "initialize" within 3 s: is it an ACP agent?',
    ),
}


@pytest.mark.parametrize("command", NO_AGENTS)
def test_a_program_that_is_no_agent_is_told_so(desk, command):
    silence, outcome, message = NO_AGENTS[command]
    ran = desk.run(tuple(command.split()), NOTHING, limits=Limits(silence=silence))
    assert (ran.record.outcome, last(ran).message) == (outcome, message)
    assert ran.took < 30


def test_a_flood_of_what_is_no_message_ends_it_soon(desk):
    ran = desk.run(("yes",), NOTHING)
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert last(ran).message == (
        "yes prints what is no message of the Agent Client Protocol"
        ' (first line: "y"): is it an ACP agent?'
    )
    assert ran.took < 30


CLOCKS = {
    "silence": ("hang", Limits(silence=2), Outcome.STALLED),
    "silence, for all it prints": ("mutter", Limits(silence=2, seconds=60), Outcome.STALLED),
    "silence, for all it complains": ("complain", Limits(silence=2, seconds=60), Outcome.STALLED),
    "turn": ("drip", Limits(turn_seconds=2), Outcome.STALLED),
    "run": ("flood", Limits(seconds=3), Outcome.TIME),
    "deaf": ("deaf", Limits(silence=2), Outcome.STALLED),
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_clock_ends_what_does_not_end(desk, clock):
    mode, limits, outcome = CLOCKS[clock]
    ran = desk.fake(mode, limits=limits)
    assert ran.record.outcome is outcome
    assert ran.took < 30


def test_one_that_stays_when_its_work_is_done_is_ended(desk):
    ran = desk.fake("stubborn")
    assert (ran.record.outcome, last(ran).reason) == (Outcome.NO_CHANGE, "complete")
    assert ran.took < 30


def test_one_that_stops_at_a_word_of_ours_is_cancelled(desk):
    def stop(event):
        if isinstance(event, ToolStarted):
            raise KeyboardInterrupt

    ran = desk.fake("run echo changed >> file.txt; sleep 600", watch=stop)
    assert ran.record.outcome is Outcome.CANCELLED
    assert ran.told(Changed) == [] or ran.file("file.txt") == b"changed\n"
