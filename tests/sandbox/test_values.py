"""How many values a JSON text has is known without the room that they take."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.values import MOST, too_many

UNITS = [b"[[]],", b"{},", b'{"":0},', b'"aa",', b"0,"]


@pytest.mark.parametrize("unit", UNITS, ids=bytes.decode)
def test_too_many_small_values_are_seen_without_room_for_them(unit):
    text = b'{"a":[' + unit * (2 * MOST) + b"0]}"
    tracemalloc.start()
    found = too_many(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found
    assert peak < 1 << 20


@pytest.mark.parametrize("said", [",[{" * MOST, '"' * MOST, "\\" * MOST, '\\"],' * MOST])
def test_what_stands_in_a_text_is_no_value(said):
    assert not too_many(json.dumps({"type": "user", "text": said}).encode())


def test_a_text_without_an_end_is_one():
    text = b'["' + b'\\"' * 100 + b"\\"
    assert (too_many(text, 2), too_many(text, 1)) == (False, True)


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_it_counts_texts_brackets_and_commas(value):
    def parts(value):
        if isinstance(value, str):
            return 1
        items = [*value.values(), *value] if isinstance(value, dict) else value
        return 1 + max(len(value) - 1, 0) + sum(map(parts, items))

    text = json.dumps(value, ensure_ascii=False).encode()
    assert (too_many(text, parts(value)), too_many(text, parts(value) - 1)) == (False, True)
