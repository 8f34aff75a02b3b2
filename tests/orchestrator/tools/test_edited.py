"""Edits of one piece: what is not edited stays, byte for byte."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.edit import EditProblem
from orchestrator.tools.edited import PieceEdit, Script, edited


def change(content, new, old=None, *, file=None, last=False):
    script = Script.of(content if file is None else file)
    return edited(content, PieceEdit(1, new, old), script, last=last)


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b\n", "x\ny\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\rb\rc\r", "b\n", "x\ny\n", b"a\rx\ry\rc\r"),
        (b"\xef\xbb\xbfa\nb\n", "a", "x", b"\xef\xbb\xbfx\nb\n"),
        (b"caf\xe9 a\n", "\xe9 a", "\xe8 b", b"caf\xe8 b\n"),
        (
            "\ufeffé\r\nb\r\n".encode("utf-16-le"),
            "é\n",
            "ß\n",
            "\ufeffß\r\nb\r\n".encode("utf-16-le"),
        ),
    ],
    ids=["crlf", "cr", "mark", "latin-1", "utf-16"],
)
def test_a_text_is_replaced_as_the_file_writes_it(content, old, new, after):
    assert change(content, new, old) == after


@pytest.mark.parametrize(
    ("content", "new", "after"),
    [
        (b"a\r\nb\r\n", "a\nx\n", b"a\r\nx\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nx\nc\n", b"a\nb\r\nx\nc\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        (b"caf\xe9\n", "th\xe9\n", b"th\xe9\n"),
        ("\ufeffa\nb\n".encode("utf-16-be"), "a\nx\n", "\ufeffa\nx\n".encode("utf-16-be")),
        (b"a\n", "", b""),
    ],
    ids=["crlf", "mixed", "mark", "mark again", "latin-1", "utf-16", "nothing"],
)
def test_a_whole_piece_is_replaced_as_the_file_writes_it(content, new, after):
    assert change(content, new) == after


def test_lines_of_two_pieces_are_never_joined():
    assert change(b"a\r\n", "x") == b"x\r\n"
    assert change(b"a\nb\n", "x", "a\nb\n") == b"x\n"


def test_a_line_that_goes_on_in_the_next_piece_is_not_broken():
    assert change(b"a, b,", "a, c,\n") == b"a, c,"


def test_the_missing_line_break_at_the_end_of_a_file_stays_missing():
    assert change(b"a", "x\n", last=True) == b"x"
    assert change(b"a", "x\n", "a", last=True) == b"x\n"


def test_what_the_encoding_cannot_say_is_refused():
    problem = change(b"caf\xe9\n", "\u20ac\n")
    assert problem == EditProblem("the file is in latin-1, which has no '€'; write it so")


def test_a_text_that_is_not_there_is_refused():
    assert isinstance(change(b"a\n", "x", "b"), EditProblem)


lines = st.lists(
    st.tuples(st.text("abc\u00e9", max_size=4), st.sampled_from(["\n", "\r\n"])), max_size=8
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines, st.sampled_from(["utf-8", "latin-1", "utf-16-le"]), st.data())
def test_one_line_is_replaced_and_every_other_byte_stays(found, encoding, data):
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    written = [(text + end).encode(encoding) for text, end in found]
    content = mark.encode(encoding) + b"".join(written)
    shown = [text for text, _ in found]
    if not shown:
        return
    at = data.draw(st.integers(0, len(shown) - 1))
    wanted = [*shown[:at], "new", *shown[at + 1 :]]
    after = change(content, "".join(f"{line}\n" for line in wanted))
    before = mark.encode(encoding) + b"".join(written[:at])
    assert after.startswith(before + "new".encode(encoding))
    assert after.endswith(b"".join(written[at + 1 :]))
