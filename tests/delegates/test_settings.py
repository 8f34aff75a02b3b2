"""What `[delegates.claude]` and `[delegates.codex]` say, as the programs' requests show it."""

import pytest

from orchestrator import settings
from orchestrator.events import Warned
from orchestrator.outcome import Outcome
from orchestrator.pricing import Usage
from tests.api.scenario import Expect, Scenario, Step
from tests.delegates.test_runs import asks, scenario

LENT = ("apply_patch", "outline", "patch_file", "read_piece", "split_file")
MOO = 'Say "moo".\nTwice: naïve $HOME {path}'


def stated(text: str) -> settings.Settings:
    return settings.read(text.encode())


def one(**expect: object) -> Scenario:
    return Scenario((Step("Nothing to do.", expect=Expect(**expect)),), side_answers=True)


def only_request(ran):
    (asked,) = [each for each in ran.asked if each.asked and each.asked.tools]
    return asked


def test_a_model_without_its_provider_is_asked(desk):
    said = stated('[delegates.claude]\nmodel = "claude-sonnet-4-5"')
    ran = desk.run("claude", one(model="claude-sonnet-4-5"), stated=said, model=None)
    assert (ran.record.outcome, ran.record.task.model) == (
        Outcome.NO_CHANGE,
        "anthropic:claude-sonnet-4-5",
    )


def test_codex_asks_the_model_of_its_table(desk):
    said = stated('[delegates.codex]\nmodel = "gpt-5.5"')
    ran = desk.run("codex", one(model="gpt-5.5"), stated=said, model=None)
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_only_allowed_tools_are_offered(desk):
    said = stated('[delegates.claude]\nallowed_tools = ["Read", "Bash"]')
    ran = desk.run("claude", one(tools=("Read", "Bash")), stated=said)
    assert set(only_request(ran).asked.tools) == {"Read", "Bash"}
    assert "split_file" not in only_request(ran).asked.prompt


def test_our_tools_can_be_among_those_allowed_and_one_that_is_unknown_is_told(desk):
    said = stated("""
        [delegates.claude]
        allowed_tools = ["Agent", "Reed", "Read", "mcp__orchestrator"]
    """)
    ran = desk.run("claude", one(tools=("Agent", "Read")), stated=said)
    warned = [event.text for event in ran.told(Warned) if "allowed_tools" in event.text]
    assert warned == ["there are no such tools (allowed_tools): Reed"]
    ours = {f"mcp__orchestrator__{name}" for name in LENT}
    assert set(only_request(ran).asked.tools) == {"Agent", "Read"} | ours


def test_a_system_prompt_stands_beside_the_programs_own(desk, worker):
    said = stated(f"[delegates.{worker}]\nsystem_prompt = '''{MOO}'''")
    request = only_request(desk.run(worker, one(), stated=said))
    told = [
        part["text"]
        for item in request.body.get("input", ())
        if item.get("role") == "developer"
        for part in item["content"]
    ]
    own = "You are Codex" if worker == "codex" else "You are Claude Code"
    system = "\n".join([request.asked.system, *told])
    assert [part in system for part in (MOO, own)] == [True, True]
    assert MOO not in request.asked.prompt


EFFORT = {"claude": "output_config", "codex": "reasoning"}
"""Where a question says it."""


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        ("claude", '["--effort=low"]'),
        ("codex", '["--config=model_reasoning_effort=low"]'),
    ],
)
def test_extra_flags_reach_the_program(desk, worker, words):
    said = stated(f"[delegates.{worker}]\nextra_flags = {words}")
    request = only_request(desk.run(worker, one(), stated=said))
    assert request.body[EFFORT[worker]]["effort"] == "low"


def test_extra_flags_of_two_words_reach_it_and_hold_in_a_run_that_goes_on(desk, worker):
    flag = '["--effort", "low"]' if worker == "claude" else '["-c", "model_reasoning_effort=low"]'
    said = stated(f"[delegates.{worker}]\nextra_flags = {flag}")
    before = desk.run(worker, one(), stated=said)
    again = desk.resume(before, one(said=("go on",)), stated=said)
    for ran in (before, again):
        assert only_request(ran).body[EFFORT[worker]]["effort"] == "low"


@pytest.mark.parametrize("words", ['["--nope"]', '["--effort"]', '["--enable"]'])
def test_a_flag_that_the_program_refuses_is_named(desk, worker, words):
    said = stated(f"[delegates.{worker}]\nextra_flags = {words}")
    ran = desk.run(worker, Scenario((), side_answers=True), stated=said)
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert words[2:-2] in ran.record.message


def test_turns_of_one_delegation_are_bound(desk, worker):
    said = stated(f"[delegates.{worker}]\nmax_turns = 2")
    ran = desk.run(worker, scenario(rest=asks(worker, "ls")), stated=said)
    assert (ran.record.outcome, ran.record.turns) == (Outcome.BUDGET, 2)


def test_the_money_of_one_delegation_is_bound(desk, worker):
    said = stated(f"[delegates.{worker}]\nmax_budget = 0.5")
    costly = asks(worker, "ls", usage=Usage(400_000, 20))
    ran = desk.run(worker, scenario(rest=costly), stated=said)
    assert (ran.record.outcome, len(ran.asked)) == (Outcome.BUDGET, 1)


def test_the_time_of_one_delegation_is_bound(desk, worker):
    said = stated(f"[delegates.{worker}]\ntimeout = 8")
    # On a busy machine the time may be over before it asks for anything.
    ran = desk.run(worker, scenario(rest=asks(worker, "sleep 4242")), stated=said)
    assert ran.record.outcome is Outcome.TIME
