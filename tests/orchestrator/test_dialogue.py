"""A conversation on disk, and what of it a run begins with."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.dialogue import Dialogue, Line, append, read
from orchestrator.earlier import fitted, mended
from orchestrator.models.model import Answer, Prompt, Results, ToolCall, ToolResult
from orchestrator.pricing import Usage

ME = "anthropic:model-1"


def asked(*ids, model=ME, text="I look."):
    echo = tuple({"type": "tool_use", "id": id, "signature": "é"} for id in ids)
    calls = tuple(ToolCall(id, "bash", '{"command": "ls"}') for id in ids)
    return Answer(text, calls, Usage(3, 4), "tools", echo, model)


def told(*ids, text="a\nb"):
    return Results(tuple(ToolResult(id, text) for id in ids))


TALK = (
    Prompt("mend it"),
    asked("x", "y"),
    told("x", "y"),
    Answer("Ok.", (), Usage(1, 2), "complete"),
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.jsonl"


def begun(path, messages=()):
    dialogue = Dialogue(messages, path, "f1")
    dialogue.begin("run-1", ME, path.with_name("copy.jsonl"))
    return dialogue


def test_what_is_kept_is_read_as_it_was(path):
    dialogue = begun(path)
    for message in TALK:
        dialogue.keep(message)
    assert (read(path).messages, read(path).runs, read(path).damaged) == (TALK, ("run-1",), 0)
    meta, run, *lines = map(json.loads, path.read_text().splitlines())
    assert (meta["role"], meta["id"], run["role"], run["run"]) == ("meta", "f1", "run", "run-1")
    assert [line["role"] for line in lines] == ["user", "assistant", "tool", "assistant"]
    assert all(line["ts"] > 0 for line in lines)
    assert lines[1]["tool_calls"][0] == {
        "id": "x",
        "name": "bash",
        "arguments": '{"command": "ls"}',
    }


def test_what_a_run_begins_with_is_copied_for_a_replay(path):
    begun(path, TALK)
    assert read(path.with_name("copy.jsonl")).messages == fitted(TALK, ME)[0]
    assert read(path).messages == ()


def test_a_torn_last_line_is_skipped_and_costs_no_other(path):
    begun(path).keep(TALK[0])
    with path.open("ab") as file:
        file.write(b'{"role": "user", "cont')
    assert read(path).messages == TALK[:1]
    append(path, Line(role="user", content="next"))
    assert (read(path).messages, read(path).damaged) == ((TALK[0], Prompt("next")), 1)


def test_a_last_line_without_its_newline_is_whole(path):
    begun(path).keep(TALK[0])
    path.write_bytes(path.read_bytes()[:-1])
    assert read(path).messages == TALK[:1]


def test_every_call_has_its_result_and_every_result_its_call():
    lonely = told("z")
    messages = (lonely, TALK[0], asked("x", "y"), told("y"), asked("v"), Prompt("next"), asked("w"))
    good = list(mended(messages))
    assert [type(each).__name__ for each in good] == [
        "Prompt",
        "Answer",
        "Results",
        "Answer",
        "Results",
        "Prompt",
        "Answer",
        "Results",
    ]
    first, second = good[2].results
    assert (first.call, first.error, second) == ("x", True, ToolResult("y", "a\nb"))


def test_the_oldest_outputs_are_left_out_first():
    messages = [message for number in range(4) for message in long(number)]
    kept, said = fitted(messages, ME, room=3000)
    assert [len(each.results[0].text) > 500 for each in kept if isinstance(each, Results)] == [
        False,
        False,
        False,
        True,
    ]
    assert kept[2].results[0].text == "[1,000 characters, left out by now]"
    assert said == (
        "The conversation has become long; left out of it: the outputs of 3 earlier steps."
    )
    assert [each for each in kept if not isinstance(each, Results)] == [
        each for each in messages if not isinstance(each, Results)
    ]


def long(number):
    id = f"call-{number}"
    return Prompt(f"task {number}"), asked(id), told(id, text="x" * 1000)


def test_then_the_oldest_messages_go_up_to_a_task():
    messages = [message for number in range(4) for message in long(number)]
    kept, said = fitted(messages, ME, room=500)
    assert kept[0] == Prompt("task 3")
    assert said.endswith("left out of it: the outputs of 4 earlier steps and the first 9 messages.")


def test_nothing_is_said_where_nothing_is_left_out():
    assert fitted(TALK, ME) == (TALK, "")


def test_the_calls_of_another_model_get_ids_of_ours_and_lose_what_is_its_own():
    messages = (*TALK, *TALK[1:3])
    kept, _ = fitted(messages, "openai:model-2")
    answers = [each for each in kept if isinstance(each, Answer)]
    assert [call.id for each in answers for call in each.calls] == [
        "earlier_1",
        "earlier_2",
        "earlier_3",
        "earlier_4",
    ]
    assert [
        result.call for each in kept if isinstance(each, Results) for result in each.results
    ] == [
        "earlier_1",
        "earlier_2",
        "earlier_3",
        "earlier_4",
    ]
    assert {(each.echo, each.model) for each in answers} == {((), "")}
    assert fitted(kept, "openai:model-2")[0] == kept


words = st.text(max_size=300)
messages = st.lists(
    st.one_of(
        st.builds(Prompt, words),
        st.builds(lambda ids, text: asked(*ids, text=text), st.sets(st.sampled_from("abc")), words),
        st.builds(lambda ids, text: told(*ids, text=text), st.sets(st.sampled_from("abcd")), words),
    ),
    max_size=12,
)


@given(messages, st.integers(0, 3000), st.sampled_from([ME, "openai:model-2"]))
def test_whatever_was_kept_a_run_begins_with_a_conversation_that_is_well_formed(said, room, model):
    kept, _ = fitted(tuple(mended(said)), model, room)
    assert not kept or isinstance(kept[0], Prompt)
    waiting = ()
    for message in kept:
        if isinstance(message, Results):
            assert tuple(result.call for result in message.results) == waiting
            waiting = ()
        else:
            assert waiting == ()
            waiting = tuple(c.id for c in message.calls) if isinstance(message, Answer) else ()
    assert waiting == ()
    assert fitted(kept, model, room)[0] == kept
