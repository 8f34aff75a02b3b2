"""Whole runs in which a real agent of the Agent Client Protocol works: codex-acp from npm."""

import pytest

from orchestrator.delegates.acp_agents import CODEX_ACP_VERSION
from orchestrator.events import Raw, Session, ToolFinished, ToolStarted, Turn, WorkerFinished
from orchestrator.models.traffic import Replay
from orchestrator.outcome import Outcome
from orchestrator.task import Limits
from tests.acp.desk import CODEX_ACP, Desk
from tests.agents import have_agents
from tests.api.scenario import Call, Expect, Fault, Step
from tests.delegates.test_runs import ADD, asks, last, scenario
from tests.delegates.test_work import APP, MENDED, PATCH


@pytest.fixture(scope="module", autouse=True)
def adapter() -> None:
    """Its image."""
    have_agents("codex-acp")


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk.at(tmp_path)


def codex(desk, *steps, rest=None, **more):
    return desk.run(CODEX_ACP, scenario(*steps, rest=rest), model="openai:gpt-5.5", **more)


def test_what_it_writes_and_edits_is_on_the_branch(desk):
    patch = Step(calls=(Call("apply_patch", text=PATCH, kind="custom"),))
    ran = codex(desk, patch, Step("Done."))
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Done.")
    assert (ran.file("new.txt"), ran.file("src/app.py")) == (b"brand new\n", MENDED)
    assert len(ran.commits) == 1
    assert ran.told(Raw) == []
    (session,) = ran.told(Session)
    assert session.program == f"codex-acp {CODEX_ACP_VERSION}"


def test_what_only_a_shell_does_is_on_the_branch(desk):
    ran = codex(
        desk,
        asks("codex", ADD, expect=Expect(said=("mend add",))),
        Step("add is mended."),
        checks=("grep -q 'b + a' src/app.py",),
    )
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "add is mended.")
    assert ran.file("src/app.py") == MENDED
    assert ran.commits == [f"execute: {ADD}"]


def test_what_it_costs_is_what_the_gateway_counted(desk):
    ran = codex(desk, asks("codex", ADD), Step("Done."))
    turns = ran.told(Turn)
    assert (ran.record.turns, ran.record.input_tokens) == (len(turns), 100 * len(turns))
    assert ran.record.cost == pytest.approx(sum(turn.cost for turn in turns))
    assert {request.key for request in ran.asked} == {ran.key}


def test_a_key_that_is_refused_is_told_within_ten_seconds(desk):
    step = Step(fault=Fault(status=401, error="authentication_error"))
    ran = codex(desk, asks("codex", ADD), rest=step)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.AUTH, 1)
    assert "(401): set OPENAI_API_KEY" in ran.record.message
    assert ran.took < 10


def test_a_server_that_fails_is_an_error_and_what_was_done_stays(desk):
    step = Step(fault=Fault(status=500, error="api_error"))
    ran = codex(desk, asks("codex", ADD), rest=step)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.WORKER_ERROR, 1)
    assert last(ran).message.startswith("codex-acp: Internal error: ")


def test_our_own_gateway_is_no_part_of_its_error(desk):
    ran = codex(desk, rest=Step(fault=Fault(status=404, error="not_found_error")))
    said = "unexpected status 404 Not Found: as the scenario says"
    assert last(ran).message == f"codex-acp: Internal error: {said}"


def test_more_answers_than_turns_are_not_asked_for(desk):
    steps = tuple(asks("codex", f"echo {number} >> file.txt") for number in range(2))
    ran = codex(desk, *steps, rest=asks("codex", "ls"), turns=2)
    assert (ran.record.outcome, last(ran).reason) == (Outcome.BUDGET, "turns")
    assert len(ran.asked) == 2


def test_money_stops_it_in_mid_work(desk):
    ran = codex(desk, asks("codex", ADD), rest=asks("codex", "ls"), cost=0.000_001)
    assert (ran.record.outcome, last(ran).reason) == (Outcome.BUDGET, "cost")


def test_a_model_that_does_not_answer_is_a_stall(desk):
    ran = codex(
        desk,
        asks("codex", ADD),
        rest=Step(fault=Fault(instead="hang")),
        limits=Limits(silence=20),  # it may take long to start
    )
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.STALLED, 1)


def test_cancelling_ends_it_and_its_command(desk):
    def stop(event):
        if isinstance(event, ToolStarted):
            raise KeyboardInterrupt

    ran = codex(desk, asks("codex", "sleep 600"), rest=Step("Done."), watch=stop)
    assert ran.record.outcome is Outcome.CANCELLED
    assert b'"stopReason":"cancelled"' in (ran.folder / "artifacts/acp.jsonl").read_bytes()


def test_our_tools_are_there_and_told_by_their_names(desk):
    outline = Call("outline", {"path": APP}, namespace="mcp__orchestrator")
    ran = codex(desk, Step(calls=(outline,)), Step("Done."))
    (finished,) = ran.told(ToolFinished)
    assert (finished.tool, finished.error) == ("mcp__orchestrator__outline", False)
    assert "add" in finished.result


def test_a_replay_ends_in_the_same_files(desk):
    ran = codex(desk, asks("codex", ADD), Step("Done."))
    again = desk.run(
        CODEX_ACP,
        scenario(),
        model="openai:gpt-5.5",
        traffic=Replay(ran.folder / "cassette"),
    )
    assert (again.record.tree, again.asked) == (ran.record.tree, [])


def test_a_run_is_resumed_in_a_new_container(desk):
    first = codex(desk, asks("codex", ADD), Step("add is mended."))
    second = desk.resume(
        first,
        scenario(asks("codex", "echo more > more.txt"), Step("There is more.")),
        model="openai:gpt-5.5",
    )
    assert (second.record.outcome, second.record.said) == (Outcome.DONE, "There is more.")
    assert (second.file("src/app.py"), second.file("more.txt")) == (MENDED, b"more\n")
    assert [event.id for event in second.told(Session)] == [
        event.id for event in first.told(Session)
    ]
    assert "add is mended." in str(second.asked[0].body)
    assert len(second.told(WorkerFinished)) == 1
