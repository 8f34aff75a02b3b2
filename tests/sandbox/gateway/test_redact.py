"""A secret never passes, however the stream is cut, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.gateway.redact import PLACE, Redactor

SECRETS = ("abab", "ababc", "bca", "aa")
TEXTS = st.text("abc-", max_size=60).map(str.encode)


def through(redactor, pieces):
    return b"".join(map(redactor.feed, pieces)) + redactor.end()


@st.composite
def cut(draw):
    """A text, and the pieces in which it comes."""
    text = draw(TEXTS)
    places = sorted(draw(st.lists(st.integers(0, len(text)))))
    return text, [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@given(cut())
def test_pieces_give_what_the_whole_gives(given):
    text, pieces = given
    assert through(Redactor(SECRETS), pieces) == through(Redactor(SECRETS), [text])


@given(cut())
def test_no_secret_passes(given):
    clean = through(Redactor(SECRETS), given[1])
    assert not [secret for secret in SECRETS if secret.encode() in clean.replace(PLACE, b"|")]


@given(cut())
def test_without_secrets_every_byte_goes_on_at_once(given):
    redactor = Redactor(())
    assert [redactor.feed(piece) for piece in given[1]] == given[1]


@pytest.mark.parametrize(
    ("pieces", "out"),
    [
        ([b"hello"], [b"hello"]),
        ([b"no sk-", b"key", b"!"], [b"no ", PLACE, b"!"]),
        ([b"sk-k", b"at"], [b"", b"sk-kat"]),
    ],
)
def test_only_what_may_become_a_secret_is_held_back(pieces, out):
    redactor = Redactor(("sk-key",))
    assert [redactor.feed(piece) for piece in pieces] == out


def test_what_is_held_back_at_the_end_goes_on():
    assert through(Redactor(("sk-key",)), [b"sk-"]) == b"sk-"
