"""What a person would see, whatever a program prints."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.display import ABOVE, UNSHOWN, Display, Unshown


def shown(data, rows=4, columns=10):
    display = Display(rows, columns)
    display.feed(data)
    return display.look()


@pytest.mark.parametrize(
    ("printed", "lines"),
    [
        (b"a\r\nb", ("a", "b")),
        (b"abc\rX", ("Xbc",)),
        (b"ab\x08\x08X", ("Xb",)),
        (b"\x1b[31mred\x1b[0m", ("red",)),
        (b"\x1b[2;3Hx", ("", "  x")),
        (b"old\x1b[2J\x1b[Hnew", ("new",)),
        ("漢字\r\nZoë e\u0301".encode(), ("漢字", "Zoë é")),
        ("漢\x1b[1Gab".encode(), ("ab",)),
        ("漢\x1b[1Ga\x1b[1;5Hb".encode(), ("a   b",)),
        ("👩\u200d🔬 x\ufe0fy".encode(), ("👩🔬 xy",)),
        (b"\xff\xc3(", ("\ufffd\ufffd(",)),
        (b"first\x1b[?1049h\x1b[Hsecond\x1b[?1049l", ("first",)),
        (b"\x1b]0;title\x07a\x1b]2;t\x1b\\b\x1bPq#0~\x1b\\c\x1b_x\x1b\\d", ("abcd",)),
        (b"\x9b31ma \xc2\x9b31mb", ("\ufffd31ma 31mb",)),
        (b"\x1b[1;2;3;4;5Aa\x1b[38:2::1:2:3mb\x1b[>4;1mc\x1b[?1;2cd\x1b[!pe\x1b[?6nf", ("abcdef",)),
        (b"\x1b[99999999999999999999C.", ("         .",)),
        (b"\x1b[?3hwide", ("wide",)),
        (b"a\x00\x01\x7fb\x1b\x18c", ("abc",)),
        ("a\u202eb\u2028c\ufeffd".encode(), ("abcd",)),
    ],
)
def test_it_is_drawn(printed, lines):
    assert shown(printed).lines == lines + ("",) * (4 - len(lines))


def test_pieces_may_be_cut_anywhere():
    printed = "é\x1b[2;2H漢\x1b]0;t\x1b\\x\x1b[1mz".encode()
    display = Display(4, 10)
    for byte in printed:
        display.feed(bytes([byte]))
    assert display.look() == shown(printed)


def test_lines_that_scroll_off_are_kept_up_to_a_number():
    screen = shown(b"".join(b"%d\r\n" % number for number in range(1000)))
    assert screen.above == tuple(str(number) for number in range(997 - ABOVE, 997))
    assert screen.lines == ("997", "998", "999", "")


def test_a_program_that_asks_where_the_cursor_is_gets_an_answer():
    display = Display(4, 10)
    display.feed(b"ab\x1b[6n\x1b[c")
    assert display.answer() == b"\x1b[1;3R\x1b[?6c"
    assert display.answer() == b""


def test_the_plain_text_is_told():
    assert Display(4, 10).feed(b"\x1b[1m(P\x1b[0mdb) \x1b]0;x\x07ok\r\n") == "(Pdb) ok\n"


@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (b"\x1b]0;", b"x" * 60),
        (b"\x1bP", b"q" * 60),
        (b"\x1b[", b"1;" * 30),
        (b"\x1b[", b"1" * 60),
        (b"e", "\u0301".encode() * 100),
        (b"e", "\u0301\x1b[m".encode() * 50),
        (b"", b"\x1b7" * 30),
        (b"", b"\x1b[6n" * 60),
        (b"", b"\x1b[?1049h" * 8),
        (b"", b"a\n" * 30),
    ],
    ids=[
        "title",
        "string",
        "parameters",
        "digits",
        "accents",
        "lone accents",
        "saves",
        "questions",
        "screens",
        "lines",
    ],
)
def test_endless_sequences_need_little_memory(start, endless):
    display = Display(4, 10)
    display.feed(start + 200 * endless)
    tracemalloc.start()
    for _ in range(400):
        display.feed(endless)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80_000


@given(st.lists(st.binary(max_size=40) | st.from_regex(rb"\x1b[\[\]P?#(]?[ -~]{0,8}"), max_size=30))
def test_whatever_is_printed_every_character_shown_is_printable(pieces):
    display = Display(4, 10)
    for piece in pieces:
        display.feed(piece)
    screen = display.look()
    assert "".join((*screen.lines, *screen.above)).isprintable()
    assert 1 <= screen.row <= 4
    assert 1 <= screen.column <= 10


def test_what_comes_too_fast_loses_its_beginning_and_is_counted():
    unshown = Unshown()
    for number in range(100_000):
        unshown.add(b"line %6d\n" % number)
    skipped, data = unshown.take()
    assert len(data) <= UNSHOWN
    assert skipped + len(data) == 12 * 100_000
    assert data.startswith(b"line ")
    assert data.endswith(b"line  99999\n")
