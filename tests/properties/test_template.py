"""A command with placeholders: every value arrives as it is, once, as one argument or none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.template import element, filled, plain

NAMES = ("a", "b", "path")
names = st.sampled_from(NAMES)
values = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
hostile = st.sampled_from(["{a}", "{{b}}", "}{", "{", "$(x)", "a b", "", "--", "-x", "{path}"])
known = st.fixed_dictionaries({name: st.lists(values | hostile, max_size=3) for name in NAMES})
GOOD = re.compile(r"(\{\{|\}\}|\{[a-z][a-z0-9_]*\}|[^{}])*")


def written(text: str) -> str:
    """As a literal is written in a template."""
    return text.replace("{", "{{").replace("}", "}}")


@given(values | hostile, values | hostile)
def test_a_value_is_never_looked_at_again(before, value):
    each = element(f"x{written(before)}{{a}}")
    assert filled([each], {"a": [value]}) == (f"x{before}{value}",)


@given(st.lists(values | hostile))
def test_a_plain_command_stays_what_it_is(words):
    assert filled([plain(word) for word in words], {}) == tuple(words)


@given(st.lists(values | hostile))
def test_a_command_without_placeholders_is_its_literals(words):
    assert filled([element(written(word)) for word in words], {}) == tuple(words)


@given(names, known)
def test_an_element_stands_once_for_each_value(name, values):
    assert filled([plain("--"), element(f"{{{name}}}")], values) == ("--", *values[name])


@given(names, known)
def test_no_value_becomes_an_option(name, values):
    each = element(f"{{{name}}}")
    if any(value.startswith("-") for value in values[name]):
        with pytest.raises(ValueError, match="would be an option"):
            filled([plain("tool"), each], values)
    else:
        assert filled([plain("tool"), each], values) == ("tool", *values[name])


@given(known)
def test_two_values_cannot_make_an_option_together(values):
    each = element("{a}{b}")
    made = [a + b for a in values["a"] for b in values["b"]]
    if any(word.startswith("-") for word in made):
        with pytest.raises(ValueError, match=r"\{a\} and \{b\} would be an option"):
            filled([each], values)
    else:
        assert filled([each], values) == tuple(made)


@given(st.text("{}ab", max_size=8))
def test_a_text_is_an_element_where_each_brace_is_doubled_or_a_placeholders(text):
    if GOOD.fullmatch(text):
        found = element(text)
        as_format = text.format_map({name: name.upper() for name in found.names})
        assert filled([found], {name: [name.upper()] for name in found.names}) == (as_format,)
    else:
        with pytest.raises(ValueError, match="write it twice"):
            element(text)
