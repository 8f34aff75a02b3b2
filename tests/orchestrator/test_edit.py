"""Exact replacement: before/after pairs, refusals, and what holds for every text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.edit import EditProblem, replace

PAIRS = {
    "one line": (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
    "several lines": (b"a\nb\nc\n", "a\nb\n", "x\n", b"x\nc\n"),
    "to nothing": (b"a\nb\n", "b\n", "", b"a\n"),
    "no newline at the end": (b"a\nb", "b", "c", b"a\nc"),
    "CRLF is matched by a plain line break": (b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n"),
    "a new line takes CRLF": (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
    "a new last line takes CRLF": (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
    "mixed endings: that of the place": (b"a\nb\r\nc\n", "c", "c\nd", b"a\nb\r\nc\nd\n"),
    "endings given literally": (b"a\r\nb\r\n", "a\r\n", "a\n", b"a\nb\r\n"),
    "only a line break": (b"a\r\nb", "\n", "\n\n", b"a\r\n\r\nb"),
    "BOM stays": (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
    "bytes that are not UTF-8 stay": (b"\xff\xe9 a\n", "a", "é", b"\xff\xe9 \xc3\xa9\n"),
    "no pattern language": (b"a.c abc\n", "a.c", r"\1", b"\\1 abc\n"),
}


@pytest.mark.parametrize(("before", "old", "new", "after"), PAIRS.values(), ids=PAIRS)
def test_replaces_exactly(before, old, new, after):
    assert replace(before, old, new) == after


def test_replaces_every_occurrence_when_asked():
    assert replace(b"a b\r\na b\r\n", "a", "x\ny", all=True) == b"x\r\ny b\r\nx\r\ny b\r\n"


def test_refuses_an_empty_old_text():
    problem = replace(b"abc", "", "x")
    assert problem == EditProblem("The old text is empty; to fill a file use write_file.")


def test_refuses_an_edit_that_changes_nothing():
    assert isinstance(replace(b"abc", "b", "b"), EditProblem)


def test_several_occurrences_are_counted_with_their_lines():
    problem = replace(b"x = 1\ny = 2\nx = 1\n", "x = 1", "x = 2")
    assert problem == EditProblem(
        "The old text occurs 2 times, at lines 1, 3; "
        "add surrounding lines to make it unique, or set replace_all."
    )


def test_overlapping_occurrences_are_not_unique():
    assert isinstance(replace(b"aaa", "aa", "b"), EditProblem)


def test_a_missing_text_shows_the_nearest_lines_numbered():
    text = b"import os\n\ndef add(a, b):\n    return a - b\n"
    problem = replace(text, "def add(a, b):\n  return a + b", "x")
    assert problem == EditProblem(
        "The old text occurs 0 times; copy it exactly, with its indentation. Nearest lines:\n"
        "     3\tdef add(a, b):\n"
        "     4\t    return a - b"
    )


def test_a_missing_text_unlike_anything_shows_nothing():
    problem = replace(b"alpha\nbeta\n", "0123456789", "x")
    assert problem == EditProblem(
        "The old text occurs 0 times; copy it exactly, with its indentation."
    )


def test_the_nearest_lines_of_a_large_file_come_soon():
    text = b"".join(b"value_%d = compute(%d, %d)\n" % (n, n, n) for n in range(50_000))
    before = time.monotonic()
    problem = replace(text, "value_77 = compute(77, 78)", "x")
    assert "    78\tvalue_77 = compute(77, 77)" in problem.message
    assert time.monotonic() - before < 5


TEXTS = st.text(alphabet="ab \né\x0c\u2028", max_size=30)


@given(before=TEXTS, old=TEXTS, new=TEXTS, crlf=st.booleans())
def test_all_equals_the_languages_own_replace(before, old, new, crlf):
    before += "\n"
    ending = "\r\n" if crlf else "\n"
    edited = replace(before.replace("\n", ending).encode(), old, new, all=True)
    if not old or old == new or old not in before:
        assert isinstance(edited, EditProblem)
    else:
        assert edited == before.replace(old, new).replace("\n", ending).encode()


@given(before=st.binary(max_size=40), old=TEXTS, new=TEXTS)
def test_bytes_around_the_place_stay(before, old, new):
    marked = before + b"<" + old.encode() + b">" + before
    edited = replace(marked, f"<{old}>", f"<{new}>")
    if not isinstance(edited, EditProblem):
        assert edited.startswith(before)
        assert edited.endswith(before)
