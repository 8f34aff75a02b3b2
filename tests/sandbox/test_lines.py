import pytest

from sandbox.channel import Chunk
from sandbox.lines import CAP, lines
from sandbox.stream import Exit, Line

END = Exit(0, 0.0)


def split(*pieces: bytes) -> list[Line]:
    *found, end = lines([*(Chunk("stdout", piece) for piece in pieces), END])
    assert end == END
    return found


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], []),
        ([b"a\n", b"b\n"], [b"a", b"b"]),
        ([b"a", b"b\nc"], [b"ab", b"c"]),
        ([b"\n\n"], [b"", b""]),
        ([b"a\r\n"], [b"a\r"]),
        ([b'{"a": "\xe2\x80\xa8\x85\x0b\x0c\r"}\n'], [b'{"a": "\xe2\x80\xa8\x85\x0b\x0c\r"}']),
        ([b"\0\xff\n"], [b"\0\xff"]),
    ],
)
def test_only_a_newline_ends_a_line(pieces, expected):
    assert split(*pieces) == [Line("stdout", data) for data in expected]


def test_the_streams_do_not_mix():
    items = [Chunk("stdout", b"o"), Chunk("stderr", b"e\n"), Chunk("stdout", b"ut\n"), END]
    assert list(lines(items)) == [Line("stderr", b"e"), Line("stdout", b"out"), END]


def test_a_line_at_the_cap_is_whole():
    assert split(b"x" * CAP, b"\nnext\n") == [
        Line("stdout", b"x" * CAP),
        Line("stdout", b"next"),
    ]


@pytest.mark.parametrize("pieces", [[b"x" * CAP + b"y\n"], [b"x" * CAP, b"y", b"z" * CAP, b"z\n"]])
def test_a_longer_line_is_cut_and_the_next_one_is_intact(pieces):
    assert split(*pieces, b"next") == [
        Line("stdout", b"x" * CAP, cut=True),
        Line("stdout", b"next"),
    ]
