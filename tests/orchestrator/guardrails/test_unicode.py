"""What cannot be seen is refused; what people write in their own script is not."""

import pytest

from orchestrator.guardrails import unicode
from orchestrator.outcome import Finding, Verdict


def found(change, text, old=None):
    return [(f.rule, f.verdict) for f in unicode.check(change((b"a", old, text.encode())))]


@pytest.mark.parametrize("character", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_direction_overrides_are_blocked(change, character):
    assert found(change, f"if access{character}:\n") == [("text.bidi", "block")]


@pytest.mark.parametrize(
    "text",
    [
        "is\u200badmin",
        "is\u2060admin",
        "is\u200dadmin",
        "a = b\ufeff",
        "def \u3164():",
        "def \u115f():",
        "ignore\U000e0069\U000e0067",
        "a\ufe01\ufe02\ufe03",
        "a\U000e0101\U000e0102",
    ],
)
def test_invisible_characters_are_blocked(change, text):
    assert found(change, text) == [("text.invisible", "block")]


@pytest.mark.parametrize("text", ["\x1b[2K", "a\rb", "a\u2028b", "\x85", "\u200e", "a\x08b"])
def test_control_characters_are_for_review(change, text):
    assert found(change, text) == [("text.control", "review")]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffusing System;\n",
        "a\tb\r\nc\x0c\n",
        "naïve, Ελληνικά, русский, 日本語, العربية, עברית",
        "می‌خواهم",
        "क्‍ष",
        "👩‍👩‍👧 ❤️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ],
)
def test_honest_text_of_any_script_passes(change, text):
    assert found(change, text) == []


def test_what_was_there_before_is_not_this_changes(change):
    assert found(change, "x\u202e\ny\n", old="x\u202e\n".encode()) == []


def test_binary_content_is_not_text(change):
    assert found(change, "\0\u202e") == []


def test_a_finding_names_the_character_and_its_line(change):
    difference = change((b"a", None, "x\ny\u202e\n".encode()))
    assert tuple(unicode.check(difference)) == (
        Finding(
            "text.bidi",
            Verdict.BLOCK,
            "a",
            "U+202E: it reverses what is shown, so that code reads as something else",
            2,
        ),
    )


def test_one_file_yields_no_flood(change):
    assert len(found(change, "\u202e\n" * 1000)) == 10
