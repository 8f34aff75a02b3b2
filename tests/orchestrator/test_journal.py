"""A journal gives back what was written, whatever interrupted the writer."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.events import AnyEvent, Changed, Output, Raw, RunFinished, Text, Turn, Warned
from orchestrator.journal import FULL, Journal, follow, read
from orchestrator.outcome import Finding, Outcome, Verdict

FINDING = Finding("size.files", Verdict.REVIEW, "a/b", "too many", None)
CHANGED = Changed(
    commit="c" * 40,
    tree="d" * 40,
    step=2,
    tool="edit_file",
    files=1,
    added=2,
    removed=3,
    findings=(FINDING,),
)
FINISHED = RunFinished(outcome=Outcome.DONE, message="fixed", seconds=1.5)


def events(path: Path) -> list[AnyEvent]:
    return [entry.event for entry in read(path)]


def write(path: Path, *happened: AnyEvent) -> None:
    with Journal(path) as journal:
        for event in happened:
            journal.write(event)


def test_events_come_back_as_they_were(tmp_path):
    write(tmp_path / "j", CHANGED, FINISHED)
    assert events(tmp_path / "j") == [CHANGED, FINISHED]


def test_no_file_means_no_events(tmp_path):
    assert events(tmp_path / "j") == []


def test_numbers_and_times_go_on_when_it_is_opened_again(tmp_path):
    write(tmp_path / "j", CHANGED)
    write(tmp_path / "j", FINISHED)
    first, second = read(tmp_path / "j")
    assert (first.seq, second.seq) == (1, 2)
    assert first.time <= second.time


def test_what_is_only_shown_is_not_kept(tmp_path):
    write(tmp_path / "j", Text(text="thinking"), Output(stream="stdout", text="line"), FINISHED)
    assert [(entry.seq, entry.event) for entry in read(tmp_path / "j")] == [(1, FINISHED)]


def test_a_torn_last_line_is_skipped(tmp_path):
    write(tmp_path / "j", CHANGED, FINISHED)
    (tmp_path / "j").write_bytes((tmp_path / "j").read_bytes()[:-9])
    assert events(tmp_path / "j") == [CHANGED]


def test_a_torn_line_does_not_swallow_the_next_event(tmp_path):
    write(tmp_path / "j", CHANGED, FINISHED)
    (tmp_path / "j").write_bytes((tmp_path / "j").read_bytes()[:-9])
    write(tmp_path / "j", FINISHED)
    damaged = Warned(text="line 2 of the journal is damaged")
    assert events(tmp_path / "j") == [CHANGED, damaged, FINISHED]


def test_an_unknown_kind_is_named(tmp_path):
    (tmp_path / "j").write_bytes(b'{"seq":1,"time":5.0,"kind":"teleported","to":"mars"}\n')
    (entry,) = read(tmp_path / "j")
    assert entry.time == 5.0
    assert entry.event == Warned(
        text="line 1 of the journal is unknown to this version: teleported"
    )


def test_a_field_of_a_later_version_is_ignored(tmp_path):
    line = b'{"seq":1,"time":5.0,"kind":"warned","text":"x","colour":"red"}\n'
    (tmp_path / "j").write_bytes(line)
    assert events(tmp_path / "j") == [Warned(text="x")]


@pytest.mark.parametrize("text", ["\u2028", "\x85", "\r", "\n", "\0", "\x1b[31m", "é", "日"])
def test_characters_that_end_lines_elsewhere_stay_in_their_event(tmp_path, text):
    write(tmp_path / "j", Warned(text=text), FINISHED)
    assert events(tmp_path / "j") == [Warned(text=text), FINISHED]


def test_half_a_surrogate_pair_is_written_as_a_question_mark(tmp_path):
    write(tmp_path / "j", Warned(text="a\ud800b"))
    assert events(tmp_path / "j") == [Warned(text="a?b")]


def test_a_live_journal_is_followed_to_its_end(tmp_path):
    write(tmp_path / "j", CHANGED)
    writer = threading.Thread(target=write, args=(tmp_path / "j", FINISHED))
    lives = iter((True, False))

    def step() -> bool:
        alive = next(lives)
        if not alive:
            writer.start()
            writer.join()
        return alive

    assert [e.event for e in follow(tmp_path / "j", step, pause=0)] == [CHANGED, FINISHED]


TURN = st.builds(
    Turn,
    step=st.integers(0, 50),
    model=st.text(),
    text=st.text(),
    input_tokens=st.integers(0, 1 << 40),
    output_tokens=st.integers(0, 1 << 40),
    cost=st.none() | st.floats(0, 1e6),
)


@given(written=st.lists(TURN, max_size=5), data=st.data())
def test_cutting_anywhere_leaves_a_prefix(tmp_path_factory, written, data):
    path = tmp_path_factory.mktemp("journal") / "j"
    write(path, *written)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    kept = events(path)
    assert kept == written[: len(kept)]
    write(path, FINISHED)
    assert events(path)[: len(kept)] == kept
    assert events(path)[-1] == FINISHED


def test_what_a_sandbox_says_without_end_leaves_room_for_what_happened(tmp_path):
    flood = Raw(type="x", text="y" * 1000)
    with Journal(tmp_path / "j", limit=10_000) as journal:
        for _ in range(100):
            journal.write(flood)
        journal.write(CHANGED)
        journal.write(flood)
        journal.write(FINISHED)
    assert (tmp_path / "j").stat().st_size < 12_000
    told = events(tmp_path / "j")
    assert [each for each in told if each != flood] == [Warned(text=FULL), CHANGED, FINISHED]
    assert [entry.seq for entry in read(tmp_path / "j")] == list(range(1, len(told) + 1))
    with Journal(tmp_path / "j", limit=10_000) as journal:
        journal.write(flood)
    assert events(tmp_path / "j") == [*told, Warned(text=FULL)]
