"""What reaches a terminal can be read, and does nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.screen import Ink, clean, columns, cut, patch, without_commands

ATTACKS = {
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "title": ("\x1b]0;owned\x07text", "text"),
    "link": ("\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"),
    "clipboard": ("\x1b]52;c;cm0gLXJm\x07text", "text"),
    "unended": ("text\x1b]0;everything after it", "text"),
    "device control": ("\x1bP1;2q#payload\x1b\\text", "text"),
    "one byte CSI": ("\x9b31mtext", "text"),
    "one byte OSC": ("\x9d0;owned\x9ctext", "text"),
    "reset": ("\x1bctext", "text"),
    "character set": ("\x1b(0text", "text"),
    "cursor": ("\x1b[2J\x1b[1;1Htext", "text"),
    "nul and bell": ("te\0x\x07t", "text"),
    "backspace": ("te\x08xt", "text"),
    "carriage return": ("10%\r50%\rtext", "text"),
    "windows line": ("text\r", "text"),
    "tab": ("a\tb", "a   b"),
    "bidirectional": ("te\u202ex\u2066t", "text"),
    "zero width": ("te\u200bxt", "text"),
    "line separator": ("te\u2028xt", "text"),
    "umlaut": ("tëxt 日本", "tëxt 日本"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_line_is_cleaned(name):
    line, shown = ATTACKS[name]
    assert clean(line) == shown


@given(st.text())
def test_a_clean_line_is_printable_and_stays_as_it_is(line):
    assert clean(line).isprintable()
    assert clean(clean(line)) == clean(line)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error::x", ": :error::x"),
        ("  ::set-env name=PATH::x", "  : :set-env name=PATH::x"),
        ("a ##[group]x", "a # #[group]x"),
        ("a::b", "a::b"),
    ],
)
def test_commands_of_github_are_not_obeyed(line, shown):
    assert without_commands(line) == shown


def test_a_long_line_is_cut():
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_columns_are_aligned():
    assert columns([("a", "bb", "c"), ("aaa", "b", "")]) == ["a    bb  c", "aaa  b"]


def test_a_patch_is_coloured_and_cannot_drive_the_terminal():
    content = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\x1b]0;owned\x07\n same\n"
    assert list(patch(content, Ink(on=True))) == [
        "\x1b[1m--- a/x\x1b[0m",
        "\x1b[1m+++ b/x\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[31m-old\x1b[0m",
        "\x1b[32m+new\\x1b]0;owned\\x07\x1b[0m",
        " same",
        "",
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (b"+evil()\r# harmless", "+evil()\\r# harmless"),
        (b"+a \x1b]0; evil()", "+a \\x1b]0; evil()"),
        (b"+a\xe2\x80\xaeb\xe2\x80\x8bc", "+a\\u202eb\\u200bc"),
        (b"+windows\r", "+windows"),
        ("+tëxt\t日本".encode(), "+tëxt   日本"),
        (b"+\xff", "+\\xff"),
    ],
)
def test_a_patch_hides_nothing_from_its_reviewer(line, shown):
    assert list(patch(line, Ink(on=False))) == [shown]


def test_no_colours_when_they_are_off():
    assert Ink(on=False).red("x") == "x"
