"""What a person gets whose agent hands over parts of its task to Claude Code or Codex."""

from contextlib import closing

import pytest

from orchestrator.delegation import DelegateSettings, Delegation
from orchestrator.events import (
    Changed,
    Delegated,
    FilesTouched,
    RunStarted,
    Session,
    ToolFinished,
    ToolStarted,
    Turn,
    Warned,
    WorkerFinished,
)
from orchestrator.models.traffic import Replay
from orchestrator.outcome import Outcome
from orchestrator.pricing import Usage
from orchestrator.settings import Settings
from sandbox import connect
from tests.api.scenario import Call, Expect, Step
from tests.conftest import git
from tests.delegates.test_matrix import failing
from tests.delegates.test_runs import ADD, asks, scenario
from tests.delegates.test_work import MENDED, edits
from tests.orchestrator.run.conftest import kill_work


def hands_over(worker, task="mend it", **more):
    """What our agent's model says."""
    resume = {"resume": more.pop("resume")} if "resume" in more else {}
    call = Call("delegate", {"worker": worker, "task": task, **resume})
    return Step(calls=(call,), **more)


def finishes(**more):
    return Step(calls=(Call("finish", {"message": "All is well."}),), **more)


def told(*said):
    return Expect(said=said, tools=("delegate", "bash"))


def test_each_change_of_the_program_is_a_commit_of_its_own(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker, expect=told("mend add")),
            *edits(worker),
            Step("It is mended."),
            finishes(expect=told(f"{worker} finished.", "- src/app.py", "It is mended.")),
        ),
    )
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "All is well.")
    assert (ran.file("new.txt"), ran.file("src/app.py")) == (b"brand new\n", MENDED)
    tools = {"claude": ["Write", "Edit"], "codex": ["file_change"]}[worker]
    changes = ran.told(Changed)
    assert [(each.tool, each.step, each.delegate) for each in changes] == [
        (tool, 1, worker) for tool in tools
    ]
    said = git(desk.repository, "log", "-1", "--format=%B", ran.record.branch).decode()
    model = {"claude": "anthropic:claude-", "codex": "openai:gpt-5.5"}[worker]
    for trailer in ("Step: 1", f"Tool: {tools[-1]}", "Worker: agent", f"Delegate: {worker}"):
        assert trailer in said.splitlines()
    assert f"Model: {model}" in said


def test_the_end_of_a_program_decides_nothing(desk, worker):
    ran = desk.delegate(
        worker, scenario(hands_over(worker), asks(worker, ADD), Step("Done."), finishes())
    )
    (ended,), (delegated,) = ran.told(WorkerFinished), ran.told(Delegated)
    assert (ended.reason, ended.message) == ("complete", "All is well.")
    assert (delegated.delegate, delegated.step, delegated.reason) == (worker, 1, "complete")
    turns = ran.told(Turn)
    assert [turn.delegate for turn in turns] == ["", worker, worker, ""]
    assert {turn.step for turn in turns[1:3]} == {1}
    assert (delegated.turns, ran.record.turns) == (2, 4)
    assert ran.record.input_tokens == 400
    assert ran.record.cost == pytest.approx(sum(turn.cost for turn in turns))
    assert delegated.cost == pytest.approx(sum(turn.cost for turn in turns[1:3]))
    nested = [event.delegate for event in ran.told(ToolStarted)]
    assert nested == ["", worker, ""]
    assert {event.delegate for event in ran.told(FilesTouched)[:-1]} == {worker}


def test_it_is_told_that_it_does_a_part_and_no_checks(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker, "only the first line"),
            Step("Nothing.", expect=Expect(said=("only the first line", "part of a larger task"))),
            finishes(expect=told("It changed no file.", "1 answer, 100 tokens in, 20 out")),
        ),
        checks=("true",),
    )
    assert ran.record.outcome is Outcome.NO_CHANGE
    own, part, _ = ran.asked
    assert ("must" in own.asked.system, "these commands succeed" in own.asked.system) == (
        False,
        True,
    )
    assert "these commands succeed" not in part.asked.said


def test_it_can_go_on_with_its_session(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker, "remember the word fjord"),
            Step("I will."),
            hands_over(worker, "mend it", resume=True),
            asks(worker, ADD, expect=Expect(said=("mend it",))),
            Step("It is mended."),
            finishes(),
        ),
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 1)
    first, second = ran.told(Session)
    assert first.id == second.id
    assert "remember the word fjord" in str(ran.asked[3].body)
    again = desk.delegate(worker, scenario(), traffic=Replay(ran.folder / "cassette"))
    assert (again.record.tree, again.asked) == (ran.record.tree, [])


def test_a_run_that_goes_on_goes_on_with_its_session_too(desk, worker):
    first = desk.delegate(
        worker,
        scenario(hands_over(worker, "remember the word fjord"), Step("I will."), finishes()),
    )
    between = desk.delegate(worker, scenario(finishes()), before=first)
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker, "mend it", resume=True),
            asks(worker, ADD, expect=Expect(said=("mend it",))),
            Step("It is mended."),
            finishes(),
        ),
        before=between,
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 1)
    assert [event.id for event in ran.told(Session)] == [event.id for event in first.told(Session)]
    assert "remember the word fjord" in str(ran.asked[1].body)


def test_without_a_session_there_is_none_to_go_on_with(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker, resume=True),
            finishes(expect=told(f"resume: {worker} has no session in this run")),
        ),
    )
    assert (ran.record.outcome, ran.told(Session)) == (Outcome.NO_CHANGE, [])


def test_a_key_that_is_refused_is_an_error_of_the_call_and_the_agent_goes_on(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker),
            failing(401, "authentication_error"),
            Step(
                calls=(Call("bash", {"command": ADD}),),
                expect=told(f"{worker} stopped: auth", "does not know the key (401)"),
            ),
            finishes(),
        ),
    )
    assert (ran.record.outcome, ran.file("src/app.py")) == (Outcome.DONE, MENDED)
    (call,) = (each for each in ran.told(ToolFinished) if each.tool == "delegate")
    assert call.error is True
    assert [event.delegate for event in ran.told(Changed)] == [""]


def costly(worker):
    return asks(worker, "ls", usage=Usage(1_000_000, 20))


def test_its_own_budget_ends_it_in_the_middle_of_its_work(desk, worker):
    stated = Settings(
        delegates=DelegateSettings(
            claude=Delegation(max_budget=0.5), codex=Delegation(model="gpt-5.5", max_budget=0.5)
        )
    )
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker),
            asks(worker, ADD),
            costly(worker),
            finishes(expect=told(f"{worker} stopped: cost", "It may use $0.5.", "- src/app.py")),
        ),
        stated=stated,
        cost=50.0,
        input_tokens=10_000_000,
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 1)
    assert 0.5 < ran.record.cost < 50


def test_what_it_uses_is_taken_from_what_the_run_has(desk, worker):
    ran = desk.delegate(
        worker,
        scenario(hands_over(worker), asks(worker, ADD), costly(worker)),
        cost=0.5,
        input_tokens=10_000_000,
    )
    (delegated,) = ran.told(Delegated)
    assert (delegated.reason, ran.record.outcome) == ("cost", Outcome.BUDGET)
    assert len(ran.commits) == 1


def test_its_answers_are_turns_of_the_run(desk, worker):
    ran = desk.delegate(worker, scenario(hands_over(worker), rest=asks(worker, "ls")), turns=4)
    (delegated,) = ran.told(Delegated)
    assert (delegated.reason, ran.record.outcome) == ("turns", Outcome.BUDGET)
    assert (ran.record.turns, len(ran.asked)) == (4, 4)


def test_what_its_sub_agents_are_answered_is_bound_by_the_turns_of_the_run(desk):
    given = {"description": "look", "prompt": "look", "subagent_type": "general-purpose"}
    part = Call("Agent", {**given, "run_in_background": False})
    steps = scenario(hands_over("claude"), Step(calls=(part,)), rest=asks("claude", "ls"))
    ran = desk.delegate("claude", steps, turns=6)
    (delegated,) = ran.told(Delegated)
    assert (delegated.reason, ran.record.outcome) == ("turns", Outcome.BUDGET)
    assert (ran.record.turns, len(ran.asked)) == (6, 6)


def test_what_of_the_repository_it_cannot_be_handed_is_told(desk):
    (desk.repository / ".mcp.json").write_text("no JSON")
    git(desk.repository, "add", ".mcp.json")
    git(desk.repository, "commit", "-qm", "servers")
    stated = Settings(delegates=DelegateSettings(project_settings=True))
    ran = desk.delegate("claude", scenario(finishes()), stated=stated)
    (said,) = (each.text for each in ran.told(Warned) if "MCP servers" in each.text)
    assert said.startswith("The MCP servers of the repository are left out: what is not JSON")
    ran = desk.delegate("codex", scenario(finishes()), stated=stated)
    assert [each.text for each in ran.told(Warned) if "MCP servers" in each.text] == []


def test_its_time_ends_it_and_nothing_of_it_is_left(desk, worker):
    stated = Settings(
        delegates=DelegateSettings(
            claude=Delegation(timeout=30), codex=Delegation(model="gpt-5.5", timeout=30)
        )
    )
    look = "ps -eo args | grep -c '[s]leep 4242\\|[a]gents/' || true"
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker),
            asks(worker, "sleep 4242"),
            Step(
                calls=(Call("bash", {"command": look}),),
                expect=told(f"{worker} stopped: time", "Its time is up."),
            ),
            finishes(expect=Expect(said=("0\n[exit status 0]",))),
        ),
        stated=stated,
    )
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_a_person_who_says_stop_keeps_what_is_recorded(desk, worker):
    def watch(event):
        if isinstance(event, Changed):
            raise KeyboardInterrupt

    steps = scenario(hands_over(worker), asks(worker, ADD), rest=asks(worker, "sleep 4242"))
    ran = desk.delegate(worker, steps, watch=watch)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.CANCELLED, 1)


def test_the_time_of_the_run_ends_both(desk, worker):
    steps = scenario(hands_over(worker), rest=asks(worker, "sleep 4242"))
    ran = desk.delegate(worker, steps, seconds=15)
    assert ran.record.outcome is Outcome.TIME


def test_a_sandbox_that_dies_is_opened_again_and_the_program_begins_once_more(desk, worker):
    def watch(event):
        if isinstance(event, RunStarted):
            run.append(event.run)
        elif isinstance(event, Changed) and not killed:
            killed.append(event)
            with closing(connect()) as engine:
                kill_work(engine, run[0])

    run: list[str] = []
    killed = []
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker),
            asks(worker, ADD),
            asks(worker, "sleep 4242"),
            asks(worker, "echo more > more.txt", expect=Expect(said=("mend it",))),
            Step("Done."),
            finishes(expect=told("the sandbox died meanwhile", f"{worker} finished")),
        ),
        watch=watch,
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 2)


def test_the_key_is_nowhere_and_the_token_is_worth_nothing_afterwards(desk, worker):
    token = {"claude": "ANTHROPIC_API_KEY", "codex": "RUN_TOKEN"}[worker]
    path = {"claude": "/v1/messages", "codex": "/v1/responses"}[worker]
    ask = (
        "python3 -c \"import http.client as h; t = open('/tmp/t').read().strip();"
        " c = h.HTTPConnection('127.0.0.1', 13128); c.request('POST', '" + path + "', '{}',"
        " {'authorization': 'Bearer ' + t, 'x-api-key': t}); r = c.getresponse();"
        ' assert len(t) > 40; print(r.status)"'
    )
    ran = desk.delegate(
        worker,
        scenario(
            hands_over(worker),
            asks(worker, f"printenv {token} > /tmp/t; env; cat /proc/*/environ"),
            Step("Done."),
            Step(calls=(Call("bash", {"command": ask}),)),
            finishes(expect=Expect(said=("403\n[exit status 0]",))),
        ),
    )
    assert {request.key for request in ran.asked} == {ran.key}
    files = [path for path in ran.folder.rglob("*") if path.is_file()]
    assert any(b"All is well." in path.read_bytes() for path in files)
    assert [path for path in files if ran.key.encode() in path.read_bytes()] == []


def test_both_can_work_in_one_run(desk):
    ran = desk.delegate(
        "",
        scenario(
            hands_over("claude"),
            asks("claude", ADD),
            Step("Done."),
            hands_over("codex"),
            asks("codex", "echo more > more.txt"),
            Step("Done."),
            finishes(),
        ),
        delegates=("claude", "codex"),
    )
    assert [event.delegate for event in ran.told(Changed)] == ["claude", "codex"]
    again = desk.delegate(
        "", scenario(), traffic=Replay(ran.folder / "cassette"), delegates=("claude", "codex")
    )
    assert (again.record.tree, again.asked) == (ran.record.tree, [])


def test_nobody_is_delegated_to_who_was_not_named(desk):
    ask = "import socket; socket.create_connection(('127.0.0.1', 13128))"
    found = f'ls /opt/agents; python3 -c "{ask}"; true'
    ran = desk.delegate(
        "",
        scenario(
            Step(calls=(Call("delegate", {"worker": "claude", "task": "mend it"}),)),
            Step(
                calls=(Call("bash", {"command": found}),),
                expect=Expect(said=("unknown tool: delegate",)),
            ),
            finishes(expect=Expect(said=("No such file", "refused"))),
        ),
        delegates=("none",),
    )
    assert "delegate" not in ran.asked[0].asked.tools


def test_only_those_that_were_named_can_be_delegated_to(desk):
    ran = desk.delegate(
        "claude",
        scenario(
            hands_over("codex"),
            finishes(expect=told("worker: expected one of claude, got codex")),
        ),
    )
    assert ran.record.outcome is Outcome.NO_CHANGE
