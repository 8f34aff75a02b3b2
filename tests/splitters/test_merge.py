"""Edited pieces, put together: before and after."""

import pytest

from splitters.merge import Merged, merge

TWO = (b"one\ntwo\n", b"three\n")


@pytest.mark.parametrize(
    ("base", "edited", "whole", "restored"),
    [
        (TWO, TWO, b"one\ntwo\nthree\n", ()),
        (TWO, (b"1\n", b"three\n"), b"1\nthree\n", ()),
        (TWO, (b"1", b"three\n"), b"1\nthree\n", (1,)),
        (TWO, (b"", b"three\n"), b"three\n", ()),
        (TWO, (b"1", b""), b"1", ()),
        (TWO, (b"one\ntwo\n", b"3"), b"one\ntwo\n3", ()),
        (TWO, (b"one\r\n", b"three\n"), b"one\r\nthree\n", ()),
        ((b"long", b"line"), (b"LONG\n", b"line"), b"LONGline", (1,)),
        ((b"long", b"line\n", b"x\n"), (b"long", b"", b"x\n"), b"long\nx\n", (2,)),
        ((b"a\n", b"long", b"line\n", b"x"), (b"a\n", b"", b"", b"x"), b"a\nx", ()),
        ((b"long", b"line\r\n", b"x"), (b"long", b"", b"x"), b"long\r\nx", (2,)),
        ((b"long", b"line\n", b"x"), (b"long", b"", b""), b"long", ()),
        ((b"long", b"line"), (b"long", b"line\n"), b"longline\n", ()),
        ((b"a\r\n", b"b\r\n"), (b"1\n2", b"b\r\n"), b"1\r\n2\r\nb\r\n", (1,)),
        ((b"a\r", b"b\r"), (b"1\n", b"b\r"), b"1\rb\r", (1,)),
        ((b"a\r\n", b"b\n"), (b"1\n", b"b\n"), b"1\nb\n", ()),
        ((b"\xef\xbb\xbfa\n",), (b"1\n",), b"\xef\xbb\xbf1\n", (1,)),
        ((b"\xef\xbb\xbfa\n", b"b\n"), (b"", b"b\n"), b"\xef\xbb\xbfb\n", (2,)),
        ((b"\xff\xfea\0\n\0", b"b\0"), (b"\xff\xfec\0", b"b\0"), b"\xff\xfec\0\n\0b\0", (1,)),
        ((b"\0a\r", b"b"), (b"\0\n\r", b"b"), b"\0\n\rb", ()),
        ((b"",), (b"a",), b"a", ()),
    ],
)
def test_what_comes_of_edited_pieces(base, edited, whole, restored):
    assert merge(base, edited) == Merged(whole, restored)


def test_a_piece_too_few_is_a_mistake():
    with pytest.raises(ValueError, match="2 pieces, and 1"):
        merge(TWO, TWO[:1])
