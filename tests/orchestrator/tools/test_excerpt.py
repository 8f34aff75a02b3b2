"""A long text keeps its start and its end, and says what is missing."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.tools.excerpt import Excerpt


def cut(text, limit=1_000):
    excerpt = Excerpt(limit)
    excerpt.add(text)
    return excerpt.text("step-1-call-1.txt")


def test_a_text_that_fits_stays_whole():
    assert cut("a\nb\n\nc") == "a\nb\n\nc"


def test_a_long_text_keeps_both_ends_at_line_borders():
    text = "".join(f"line {number:04}\n" for number in range(1000))
    assert cut(text, 330).splitlines() == [
        *(f"line {number:04}" for number in range(6)),
        "[992 of 1,000 lines and 9,920 characters left out here; "
        "the full text is kept outside the sandbox as artifact step-1-call-1.txt]",
        *(f"line {number:04}" for number in (998, 999)),
    ]


def test_one_endless_line_is_cut_inside():
    shown = cut("x" * 1_000_000, 30_000)
    assert "characters left out here" in shown
    assert 25_000 < len(shown) <= 30_000


def test_one_line_is_no_several():
    assert cut("x" * 751 + "\n", 1_001).startswith("\n[1 of 1 line and 752 characters left out")


def test_parts_count_like_the_whole():
    lines = [f"{number}\n" for number in range(5000)]
    excerpt = Excerpt(1_000)
    for line in lines:
        excerpt.add(line)
    assert excerpt.text("a") == cut("".join(lines)).replace("step-1-call-1.txt", "a")


@given(st.text(max_size=3000), st.integers(min_value=400, max_value=1500))
def test_never_longer_than_the_limit(text, limit):
    assert len(cut(text, limit)) <= limit


@given(st.text(max_size=750))
def test_what_fits_is_never_altered(text):
    assert cut(text, 1_000) == text
