"""Two changes of one file: both, or where they are in each other's way."""

import pytest

from orchestrator.threeway import Merge, Span, merge

BASE = b"1\n2\n3\n4\n5\n6\n7\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "both"),
    [
        (BASE, b"new\n", b"new\n"),
        (b"new\n", BASE, b"new\n"),
        (b"new\n", b"new\n", b"new\n"),
        (BASE.replace(b"2", b"two"), BASE.replace(b"6", b"six"), b"1\ntwo\n3\n4\n5\nsix\n7\n"),
        (BASE.replace(b"2", b"two"), BASE[:-1], b"1\ntwo\n3\n4\n5\n6\n7"),
    ],
)
def test_both_changes_survive(ours, theirs, both):
    assert merge(BASE, ours, theirs) == Merge(both)


def test_conflicts_are_named_by_the_lines_of_ours():
    ours = b"0\n" + BASE.replace(b"2\n", b"two\nzwei\n").replace(b"6\n", b"")
    theirs = BASE.replace(b"2\n", b"deux\n").replace(b"6\n", b"six\n")
    assert merge(BASE, ours, theirs).conflicts == (Span(3, 4), Span(8, 7))


def test_marks_of_an_older_conflict_are_text():
    base = b"<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n3\n"
    found = merge(base, base.replace(b"3", b"drei"), base.replace(b"3", b"trois"))
    assert found.conflicts == (Span(6, 6),)
    assert b"<<<<<<<< source\n" in found.data


def test_a_binary_file_is_one_conflict():
    assert merge(b"\0a\n", b"\0b\nc", b"\0c\n") == Merge(b"\0b\nc", (Span(1, 2),))
