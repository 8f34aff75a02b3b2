"""Summaries of pieces and of a whole file, for whoever calls them."""

import pytest

from orchestrator.errors import BudgetError
from orchestrator.models.scripted import Script, ScriptedModel, Step
from orchestrator.pricing import Usage
from orchestrator.summarize import Summarizer, Summary
from orchestrator.task import Limits
from splitters import split

PIECES = split(b"one\n" * 10 + b"\n" + b"two\n" * 10, target=41)


def asked(*steps, **limits):
    return Summarizer(ScriptedModel(Script(steps)), Limits(**limits))


def test_each_piece_has_its_summary_and_the_file_one_of_them():
    assert len(PIECES.pieces) == 2
    summarizer = asked(
        Step("Ones.", expect='Summarize lines 1-11 of "f":\n\n| one\n'),
        Step("Twos.", expect='Summarize lines 12-21 of "f":\n\n| two\n'),
        Step("Numbers.", expect="| Lines 1-11: Ones.\n| Lines 12-21: Twos."),
    )
    found = list(summarizer.pieces("f", PIECES))
    assert found == [Summary(1, 11, "Ones."), Summary(12, 21, "Twos.")]
    assert summarizer.whole("f", found) == Summary(1, 21, "Numbers.")
    assert (summarizer.questions, summarizer.spent.cost) == (3, 0.0)
    summarizer.model.finish()


def test_pieces_of_utf_16_are_read_as_such():
    pieces = split(
        b"\xff\xfe" + ("one\n" * 10 + "\n" + "zwö\n" * 10).encode("utf-16-le"), target=90
    )
    summarizer = asked(*(Step("Ok.", expect=text) for text in ("| one\n", "| zwö\n")))
    assert len(list(summarizer.pieces("f", pieces))) == len(pieces.pieces) == 2


def test_nothing_is_asked_beyond_the_budget():
    summarizer = asked(Step("Ones.", usage=Usage(9, 2)), Step("Twos."), input_tokens=9)
    summaries = summarizer.pieces("f", PIECES)
    assert next(summaries).text == "Ones."
    with pytest.raises(BudgetError, match="9 input tokens"):
        next(summaries)
    assert (summarizer.questions, summarizer.usage) == (1, Usage(9, 2))
