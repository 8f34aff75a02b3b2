"""Cutting at lines alone: exact, bounded, and quick whatever the file holds."""

import re
import time
from bisect import bisect_right

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import coarse
from splitters.source import wide

contents = st.binary(max_size=60) | st.text("aé€😀\r\n", max_size=40).map(str.encode)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(contents, st.integers(1, 20))
def test_the_pieces_are_the_file_and_fit(data, target):
    pieces = coarse.cut(data, target)
    assert b"".join(map(pieces.content, pieces.pieces)) == data
    assert all(0 < piece.size <= target for piece in pieces.pieces) or data == b""
    if wide(data):
        return
    breaks = [found.end() for found in re.finditer(rb"\r\n|\r|\n", data)]
    for piece in pieces.pieces:
        assert piece.first_line == 1 + bisect_right(breaks, piece.start)
        assert piece.last_line == (1 + bisect_right(breaks, piece.end - 1) if data else 0)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("aé€😀\n", max_size=40), st.integers(4, 20))
def test_no_character_is_cut(text, target):
    wides = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    for encoding, mark in (("utf-8", ""), *((each, "\ufeff") for each in wides)):
        pieces = coarse.cut((mark + text).encode(encoding), target)
        read = [pieces.content(piece).decode(encoding) for piece in pieces.pieces]
        assert "".join(read) == mark + text


def test_cuts_are_at_the_ends_of_lines():
    pieces = coarse.cut(b"one\ntwo\nthree\n", 9)
    assert [pieces.content(piece) for piece in pieces.pieces] == [b"one\ntwo\n", b"three\n"]
    assert [(piece.first_line, piece.last_line) for piece in pieces.pieces] == [(1, 2), (3, 3)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end, encoding):
    data = end.join(["one", "two", "three", ""]).encode(encoding)
    pieces = coarse.cut(data, len(data))
    assert [(piece.first_line, piece.last_line) for piece in pieces.pieces] == [(1, 3)]


@pytest.mark.parametrize("unit", [b"\n", b"a\n", b"x", b"\r", b"\x80", b"a\n\n"])
def test_no_content_is_slow(unit):
    data = unit * ((16 << 20) // len(unit))
    before = time.process_time()
    coarse.cut(data, 32_768)
    assert time.process_time() - before < 2
