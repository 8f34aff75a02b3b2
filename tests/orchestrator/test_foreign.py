"""What a stranger can write without harm."""

import pytest

from orchestrator.foreign import all_well_formed, parse, well_formed


@pytest.mark.parametrize(
    "text", ["{", "", "NaN", "[-Infinity]", "1e999", "9" * 5000, "[" * 33 + "]" * 33, "[" * 100_000]
)
def test_what_is_not_json_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 - the kind is what matters
        parse(text)


@pytest.mark.parametrize("text", ['"a"', "[1, 2.5]", "[" * 32 + "]" * 32])
def test_what_is_json_is_its_value(text):
    assert repr(parse(text)).replace("'", '"') in text


def test_half_a_surrogate_pair_becomes_a_question_mark():
    assert well_formed("a\ud800b, \ud83d\ude00, ü") == "a?b, 😀, ü"


def test_all_texts_of_a_value_become_well_formed():
    assert all_well_formed({"\ud800": ["\udc00", 1, None]}) == {"?": ["?", 1, None]}
