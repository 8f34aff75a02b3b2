"""Outlines of what is not as it should be: broken, deep, dense, in another encoding."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splitters
from splitters import LANGUAGES, Declaration, Language, detect
from splitters.table import BY_NAME


@cache
def sample(language: str) -> bytes:
    folder = Path(__file__).parent / "languages" / language
    (found,) = (path for path in folder.iterdir() if path.suffix != ".txt")
    return found.read_bytes()


def outline(data: bytes, row: Language) -> tuple[Declaration, ...]:
    return splitters.outline(data, row).declarations


def named(data: bytes, language: str) -> list[str]:
    return [one.name for one in outline(data, BY_NAME[language])]


def only(data: bytes, language: str) -> Declaration:
    (found,) = outline(data, BY_NAME[language])
    return found


def levels(declarations: tuple[Declaration, ...]) -> int:
    """How deep an outline is, without recursion."""
    depth = 0
    while declarations:
        depth += 1
        declarations = tuple(inner for one in declarations for inner in one.children)
    return depth


def test_an_empty_file_declares_nothing():
    assert [outline(b"", row) for row in BY_NAME.values() if outline(b"", row)] == []


def test_a_language_is_named_or_detected_or_none():
    data = b"def one():\n    pass\n"
    found = detect("a.py", data)
    whole = splitters.outline(data, found)
    assert splitters.outline(data, "python") == splitters.outline(data, ".py") == whole
    assert splitters.split(data, found) == splitters.split(data, "python")
    assert splitters.Document.of(data, found).split() == splitters.split(data, "python")
    for text in (detect("a.txt", data), "text"):
        assert splitters.outline(data, text) == splitters.Outline(())
    with pytest.raises(splitters.UnknownLanguageError):
        splitters.outline(data, "klingon")


def test_a_word_of_the_language_beside_an_error_is_no_declaration():
    broken = b"module M where\n\ninstance Show A where\n  show = ) (\n\nf = 1\n"
    assert [one.name for one in only(broken, "haskell").children] == ["Show A.show"]


def test_what_stands_between_errors_is_listed():
    broken = b"def one(:\n    pass\n\n\ndef two():\n    pass\n\n\n)))\n\n\nclass Three:\n    pass\n"
    assert {"two", "Three"} <= set(named(broken, "python"))


def test_functions_in_broken_c_are_listed():
    broken = b"int one(void) { return 1; }\n@@ MACRO(x {\nint two(void)\n{\n\treturn 2;\n}\n"
    assert named(broken, "c")[0] == "one"
    assert "two" in named(broken, "c")


def test_nesting_without_end_is_listed_to_a_depth():
    deep = b"function f() {" * 3_000 + b"}" * 3_000
    found = splitters.outline(deep, BY_NAME["javascript"])
    assert (levels(found.declarations), found.whole) == (50, False)
    assert splitters.outline(deep[: 14 * 50] + b"}" * 50, BY_NAME["javascript"]).whole


def test_deep_wrappers_are_looked_through_a_little_way():
    outline(b"template <class T> " * 3_000 + b"int f() {}", BY_NAME["cpp"])


def test_lines_end_with_any_break():
    for end in (b"\n", b"\r\n", b"\r"):
        data = end.join([b"# one", b"def f():", b"    pass", b"", b"def g(): pass", b""])
        found = [(one.first_line, one.last_line) for one in outline(data, BY_NAME["python"])]
        assert found == [(2, 3), (5, 5)], end


def test_a_form_feed_ends_no_line():
    assert only(b"\x0c\n\x0b\ndef f(): pass\n", "python").first_line == 3


def test_half_a_character_at_the_end_is_within_the_file():
    data = "FROM a AS b\n".encode("utf-16") + b"x"
    assert only(data, "dockerfile").end == len(data)


def test_utf_16_is_read_and_its_places_are_bytes_of_the_file():
    text = "\ufeffclass A:  # é\r\n    def f(self): pass\r\n"
    for encoding in ("utf-16-le", "utf-16-be"):
        data = text.encode(encoding)
        found = only(data, "python").children[0]
        assert (found.name, found.first_line) == ("A.f", 2)
        assert data[found.start : found.end].decode(encoding) == "def f(self): pass"


def test_what_a_heading_opens_ends_with_what_it_is_in():
    data = b"<?php\nclass A {\n  function f() {\nnamespace B;\nclass C {}\n  }\n}\nclass D {}\n"
    outer = splitters.outline(data, "php").declarations
    assert [one.name for one in outer] == ["A", "D"]


def test_latin_1_is_read():
    data = "# caf\xe9\ndef f():\n    return '\xe9'\n\n\ndef g(): pass\n".encode("latin-1")
    assert named(data, "python") == ["f", "g"]


def test_dense_json_lists_its_first_level():
    data = json.dumps({f"key{number}": {"a": 1, "b": [2]} for number in range(500)}).encode()
    found = outline(data, BY_NAME["json"])
    assert [one.name for one in found] == [f"key{number}" for number in range(500)]
    assert levels(found) == 1


def test_json_lists_its_second_level_where_it_begins_a_line():
    data = json.dumps({"a": {"b": {"c": {"d": 1}}}}, indent=2).encode()
    assert only(data, "json").children[0].name == "a.b"
    assert levels(outline(data, BY_NAME["json"])) == 2


def test_numbers_in_a_list_are_no_declarations():
    assert outline(b"[" + b"1," * 10_000 + b"1]", BY_NAME["json"]) == ()


def test_a_signature_goes_to_the_body():
    data = b"async def fill(\n    shelf: Shelf,\n    limit: int = 1,\n) -> None:  # why\n    pass\n"
    expected = "async def fill(shelf: Shelf, limit: int = 1) -> None"
    assert only(data, "python").signature == expected


def test_a_signature_leaves_out_the_decorators():
    data = b"@cache\n@other(1)\ndef f(): pass\n"
    assert only(data, "python").signature == "def f()"
    assert only(data, "python").first_line == 1


def test_a_body_that_is_only_indented_ends_before_the_next_comment():
    found = only(b"object A {\n  def b =\n    1\n\n  // c\n  // c\n  def c = 2\n}\n", "scala")
    assert [(one.first_line, one.last_line) for one in found.children] == [(2, 3), (7, 7)]


def test_a_title_between_two_lines_of_signs_is_its_signature():
    assert only(b"=====\nSpeed\n=====\n\ntext\n", "rst").signature == "Speed"


def test_a_long_signature_is_cut():
    found = only(b"def f(" + b"a, " * 200 + b"): pass\n", "python").signature
    assert 150 < len(found) <= 160
    assert found.endswith("…")


def test_clauses_are_one_declaration_unless_something_else_is_between():
    code = b"function f(a: number): void;\n%sfunction f(a: string): void;\n"
    for between, ends in ((b"", [2]), (b"g(1);\n", [1, 3])):
        found = splitters.outline(code % between, "typescript").declarations
        assert [one.last_line for one in found] == ends


def test_comments_above_belong_to_a_declaration_unless_a_blank_line_parts_them():
    data = b"# far\n\n# near\n# nearer\ndef f(): pass\n"
    found = only(data, "python")
    assert data[found.above : found.start] == b"# near\n# nearer\n"


def test_a_comment_behind_code_is_not_above():
    data = b"x = 1  # of x\ndef f(): pass\n"
    found = only(data, "python")
    assert found.above == found.start


def test_a_notebook_of_another_shape_has_no_cells():
    for data in (b"[]", b"{}", b'{"cells": 1}', b'{"a": {"cells": [{"cell_type": "code"}]}}'):
        assert outline(data, BY_NAME["notebook"]) == ()


def test_what_is_detected_can_be_outlined():
    data = b"#!/usr/bin/env ruby\ndef f = 1\n"
    assert [one.name for one in outline(data, detect("tool", data))] == ["f"]


@pytest.mark.parametrize("row", LANGUAGES, ids=lambda row: row.name)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_damaged_file_has_an_outline_in_order(row, data):
    whole = sample(row.name)
    at, end = (data.draw(st.integers(0, len(whole))) for _ in "ab")
    broken = whole[:at] + data.draw(st.binary(max_size=40)) + whole[end:]
    waiting = [(0, len(broken), outline(broken, row))]
    while waiting:
        before, behind, beside = waiting.pop()
        for one in beside:
            assert before <= one.start < one.end <= behind
            assert one.above <= one.start
            assert broken.count(b"\0") or one.first_line <= one.last_line
            waiting.append((one.start, one.end, one.children))
            before = one.end
