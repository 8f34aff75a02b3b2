"""Which sessions of a run's sub-tasks another run goes on with."""

from orchestrator.delegates.inherited import hand_on, inherited
from orchestrator.delegates.transcript import Transcript
from orchestrator.events import Session

A, B = (f"{digit * 8}-0000-0000-0000-000000000000" for digit in "ab")


def keep(artifacts, number, session, content):
    folder = artifacts / f"delegation-{number}" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{session}.jsonl").write_bytes(content)


def began(session, program):
    return Session(id=session, program=f"{program} 1", delegate=program)


def test_it_is_the_last_one_as_it_was_kept_last_and_handed_on_again(tmp_path):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for number in (9, 10):
        keep(first, number, A, b"%d" % number)
    keep(first, 11, B, b"codex")
    hand_on([began(A, "claude"), began(B, "codex"), began(A, "claude")], first, second)
    assert inherited(second) == {
        "claude": Transcript(A, {A: b"10"}),
        "codex": Transcript(B, {B: b"codex"}),
    }
    keep(second, 1, B, b"claude")
    hand_on([began(B, "claude")], second, third)
    assert inherited(third)["claude"] == Transcript(B, {B: b"claude"})
    assert inherited(third)["codex"] == inherited(second)["codex"]


def test_what_was_not_kept_and_what_is_the_runs_own_are_not_handed_on(tmp_path):
    keep(tmp_path / "first", 1, A, b"a")
    events = [began(B, "claude"), began("../../x", "claude"), Session(id=A, program="codex 1")]
    hand_on(events, tmp_path / "first", tmp_path / "second")
    assert inherited(tmp_path / "second") == {}
