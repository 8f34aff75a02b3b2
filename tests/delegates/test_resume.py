"""A run of Claude Code or Codex goes on with another: its files, its session, its base."""

import json

import pytest

from orchestrator.errors import RecordError
from orchestrator.events import Changed, Resumed, Session
from orchestrator.models.traffic import Replay
from orchestrator.outcome import Outcome, Verdict
from orchestrator.pricing import Usage
from tests.api.scenario import Expect, Scenario, Step
from tests.conftest import git
from tests.delegates.test_runs import ADD, asks, last, scenario
from tests.delegates.test_runs import mended as mended

READ = "cat src/app.py > seen.txt"
SEEN = b"def add(a, b):\n    return b + a\n"
WORKFLOW = "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml"


def first_request(ran):
    """All that the first request with tools says."""
    asked = next(request for request in ran.asked if request.asked and request.asked.tools)
    return json.dumps(asked.body)


def sessions(ran):
    return {session.id for session in ran.told(Session)}


def transcript(ran):
    """The file that holds its session, of which there is but one."""
    (path,) = ran.folder.glob("artifacts/sessions/*")
    assert path.stem in sessions(ran)
    return path


@pytest.fixture
def first(desk, worker, mended):
    """A run that ended well."""
    return desk.have_again(mended(worker))


def going_on(worker):
    return scenario(asks(worker, READ, expect=Expect(said=("go on",))), Step("It is seen."))


def test_the_session_the_files_and_the_base_are_those_of_the_first_run(desk, worker, first):
    git(desk.repository, "commit", "--allow-empty", "-qm", "the user went on, too")
    again = desk.resume(first, going_on(worker))
    for words in ("mend add", "sed -i", "add is mended.", "go on"):
        assert words in first_request(again)
    assert sessions(again) == sessions(first)
    assert again.record.outcome is Outcome.DONE
    assert (again.record.resumes, again.record.base) == (first.record.id, first.record.base)
    assert again.file("seen.txt") == SEEN
    assert again.commits == [*first.commits, again.commits[-1]]
    assert git(desk.repository, "rev-parse", f"{again.record.branch}~1").decode().strip() == (
        first.record.tip
    )
    (resumed,) = again.told(Resumed)
    assert (resumed.run, resumed.commits) == (first.record.id, 1)
    assert again.record.message == "2 commits, no check was asked for"


def test_a_fork_has_another_id_and_leaves_the_first_one_free(desk, worker, first):
    forks = [desk.resume(first, going_on(worker), fork=True) for _ in range(2)]
    assert all("add is mended." in first_request(fork) for fork in forks)
    ids = {sessions(ran).pop() for ran in (first, *forks)}
    assert len(ids) == 3
    assert [fork.record.forked for fork in forks] == [True, True]
    third = desk.resume(forks[0], scenario(Step("Done.")))
    assert sessions(third) == sessions(forks[0])
    for words in ("add is mended.", "It is seen."):
        assert words in first_request(third)
    assert third.commits == forks[0].commits


def test_a_run_that_a_person_stopped_keeps_what_is_recorded_and_goes_on(desk, worker):
    def watch(event):
        if isinstance(event, Changed):
            raise KeyboardInterrupt

    steps = scenario(asks(worker, ADD), rest=asks(worker, "sleep 4242"))
    first = desk.run(worker, steps, watch=watch)
    assert (first.record.outcome, len(first.commits)) == (Outcome.CANCELLED, 1)
    again = desk.resume(first, going_on(worker))
    assert "mend add" in first_request(again)
    assert (again.record.outcome, again.file("seen.txt")) == (Outcome.DONE, SEEN)


def test_a_budget_is_bound_in_the_midst_of_the_work_and_gone_on_with_a_new_one(desk, worker):
    costly = asks(worker, ADD, usage=Usage(100_000, 20))
    first = desk.run(worker, scenario(rest=costly), cost=0.01)
    assert (first.record.outcome, len(first.asked)) == (Outcome.BUDGET, 1)
    again = desk.resume(first, scenario(asks(worker, READ), Step("Done.")), cost=0.5)
    assert "mend add" in first_request(again)
    assert again.record.outcome is Outcome.DONE
    assert again.record.input_tokens < 100_000


def test_a_model_that_never_finishes_has_so_many_turns_and_goes_on_with_new_ones(desk, worker):
    first = desk.run(worker, scenario(rest=asks(worker, ADD)), turns=3)
    assert (first.record.outcome, last(first).reason) == (Outcome.BUDGET, "turns")
    assert (first.record.turns, len(first.asked)) == (3, 3)
    again = desk.resume(first, scenario(asks(worker, READ), Step("Done.")), turns=2)
    assert again.record.outcome is Outcome.DONE


def test_the_time_of_a_run_ends_it_and_leaves_a_session(desk, worker, mended):
    seconds = max(14.0, 2 * mended(worker).record.seconds)  # a busy machine needs them to begin
    steps = scenario(asks(worker, ADD), asks(worker, "sleep 4242"))
    first = desk.run(worker, steps, seconds=seconds)
    assert first.record.outcome is Outcome.TIME
    again = desk.resume(first, going_on(worker))
    assert "mend add" in first_request(again)
    assert again.file("seen.txt") == SEEN


def test_what_was_blocked_is_judged_again_and_never_published(desk, worker):
    first = desk.run(worker, scenario(asks(worker, WORKFLOW), Step("Done.")))
    assert (first.record.outcome, first.record.branch) == (Outcome.BLOCKED, "")
    still = desk.resume(first, scenario(asks(worker, ADD), Step("Done.")))
    assert (still.record.outcome, still.record.branch) == (Outcome.BLOCKED, "")
    mended = desk.resume(still, scenario(asks(worker, "rm -r .github"), Step("Done.")))
    assert (mended.record.outcome, mended.record.verdict) == (Outcome.DONE, Verdict.PASS)
    assert mended.commits == ["all changes as one"]


def test_checks_are_run_anew_on_the_whole_change(desk, worker, first):
    again = desk.resume(first, going_on(worker), checks=("grep -q 'b + a' src/app.py seen.txt",))
    assert again.record.outcome is Outcome.DONE
    assert [evidence.tree for evidence in again.record.evidence] == [
        first.record.base_tree,
        again.record.tree,
    ]


def test_a_resumed_run_is_replayed_in_its_turn(desk, worker, first):
    again = desk.resume(first, going_on(worker))
    played = Replay(again.folder / "cassette")
    replayed = desk.resume(first, Scenario(()), traffic=played)
    assert (replayed.record.tree, replayed.asked) == (again.record.tree, [])
    assert replayed.record.outcome is Outcome.DONE


def test_the_key_is_not_in_the_transcript(desk, worker):
    ran = desk.run(worker, scenario(Step("Done.")), prompt="the key is {key}")
    kept = transcript(ran).read_bytes()
    assert b"the key is ****" in kept
    assert ran.key.encode() not in kept


def test_a_session_that_is_no_session_is_an_error_of_the_program(desk, worker, first):
    transcript(first).write_bytes(b"nothing\n")
    again = desk.resume(first, scenario())
    assert again.record.outcome is Outcome.WORKER_ERROR
    assert sessions(first).pop() in again.record.message
    assert again.commits == first.commits


def test_a_transcript_beyond_all_bounds_is_not_kept(desk, worker):
    grow = "for f in ~/.claude/projects/*/*.jsonl ~/.codex/sessions/*/*/*/*.jsonl; do"
    grow += ' [ -e "$f" ] && head -c 70000000 /dev/zero >> "$f"; done; echo grown > grown.txt'
    ran = desk.run(worker, scenario(asks(worker, grow), Step("Done.")))
    assert ran.file("grown.txt") == b"grown\n"
    with pytest.raises(RecordError, match="was not kept"):
        desk.resume(ran, scenario())


def test_without_a_transcript_there_is_nothing_to_go_on_with(desk, worker, first):
    transcript(first).unlink()
    with pytest.raises(RecordError, match=f"session of run {first.record.short} was not kept"):
        desk.resume(first, scenario())
