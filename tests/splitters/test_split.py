"""Cutting whole files: what comes back is the file, in pieces a reader would choose."""

import argparse
from pathlib import Path

import pytest

import splitters
from splitters import Piece
from splitters.above import lifted
from splitters.border import Border, Rank

ARGPARSE = Path(argparse.__file__).read_bytes()


def contents(data: bytes, *how: object, **options: object) -> list[bytes]:
    cut = splitters.split(data, *how, **options)
    return [cut.content(piece) for piece in cut.pieces]


def told(data: bytes, *how: object, **options: object) -> list[tuple[str, str, str]]:
    return [
        (piece.kind, piece.name, piece.parent)
        for piece in splitters.split(data, *how, **options).pieces
    ]


def lines(piece: Piece) -> tuple[int, int]:
    return piece.first_line, piece.last_line


def test_the_pieces_of_a_file_are_the_file():
    assert b"".join(contents(ARGPARSE, "python")) == ARGPARSE


def test_no_piece_is_larger_than_the_target():
    assert all(len(content) <= 4_096 for content in contents(ARGPARSE, "python", 4_096))


def test_an_empty_file_is_one_empty_piece():
    (piece,) = splitters.split(b"", "python").pieces
    assert (piece.size, lines(piece)) == (0, (1, 0))


def test_a_target_below_one_byte_is_refused():
    with pytest.raises(ValueError, match="The target is 0"):
        splitters.split(b"", target=0)


def test_an_unknown_language_is_refused_with_those_that_are_known():
    with pytest.raises(splitters.UnknownLanguageError, match=r"known are text, .*python"):
        splitters.split(b"", "klingon")


CLASS = b'''\
import os


class Store:
    """Holds."""

    def get(self, key):
        return self.all[key]

    # Why it is so.
    @locked
    def put(self, key):
        self.all[key] = 1
        self.count += 1


def main():
    pass
'''


def test_a_cut_falls_between_members_and_what_describes_them_stays():
    assert contents(CLASS, "python", 120) == [
        CLASS[: CLASS.index(b"    # Why")],
        CLASS[CLASS.index(b"    # Why") : CLASS.index(b"def main")],
        CLASS[CLASS.index(b"def main") :],
    ]


def test_a_piece_is_called_after_what_it_starts_with():
    assert told(CLASS, "python", 120) == [
        ("class", "Store", ""),
        ("method", "Store.put", "Store"),
        ("function", "main", ""),
    ]


def test_a_piece_lists_what_begins_in_it():
    pieces = splitters.split(CLASS, "python", 120).pieces
    assert [piece.names for piece in pieces] == [("Store", "Store.get"), ("Store.put",), ("main",)]


def test_a_piece_inside_a_declaration_is_called_after_it():
    body = b"".join(b"        a%02d = 1\n" % number for number in range(20))
    code = b"class A:\n    def f(self):\n" + body
    assert told(code, "python", 150)[1:] == [("method", "A.f", "A")] * 2


def test_a_function_that_fits_is_not_cut_for_the_sake_of_full_pieces():
    function = b"def f():\n" + b"    return 1\n" * 5
    assert contents(function * 4, "python", 100) == [function] * 4


def _many(form: bytes, count: int) -> bytes:
    return b"".join(form % number for number in range(count))


def test_no_piece_is_empty_where_syntax_is_not_valid():
    code = b'<project xmlns="http://mans="http://maven.apache.org/POM/4.0.0">\n<a></a><'
    assert all(contents(code, "xml", 64))
    assert b"".join(contents(code, "xml", 64)) == code


BODY = b"{\n" + b"    f(1, 2, 3);\n" * 250 + b"}\n"


@pytest.mark.parametrize(
    ("language", "small", "whole"),
    [
        ("c", b"int a%04d;\n", b"DO(x, int, y)\n" + BODY),
        ("javascript", b"let a%04d = 1;\n", b"let b; let c = () => " + BODY),
        ("haskell", b"a%04d = 1\n", _many(b"f %04d = 1\n-- And so on.\n", 150)),
    ],
)
def test_what_comes_after_many_small_ones_is_whole_and_they_share_a_piece(language, small, whole):
    before = _many(small, 5_000 // len(small % 0))
    assert contents(before + whole + before, language, 8_192)[0] == before


def test_a_signature_is_not_parted_from_the_first_statement_nor_a_bracket_from_the_last():
    code = b"void f(\n  int a)\n{\n  one();\n  two();\n  three();\n}\n"
    at = code.index(b"  two")
    assert contents(code, "c", 32) == [code[:at], code[at:]]


@pytest.mark.parametrize(
    "text",
    [
        b's = """\n' + b"def f():\n\n" * 7 + b'"""\n',
        b"/*\n" + b"int f;\n\n" * 8 + b"*/\n",
        b"```\n" + b"# A\n\n" * 12 + b"```\n",
    ],
)
def test_a_string_a_comment_or_a_fence_that_fits_is_never_cut(text):
    language = {b"s": "python", b"/": "c", b"`": "markdown"}[text[:1]]
    before = b"int x;\n" * 5 if language == "c" else b"x = 1\n\n" * 5
    assert text in contents(before + text + before, language, len(text))


def test_a_string_over_the_target_is_cut_at_its_lines():
    code = b's = """\n' + b"word word\n" * 30 + b'"""\n'
    assert all(content.endswith(b"\n") for content in contents(code, "python", 100))


@pytest.mark.parametrize("natural", [False, True])
@pytest.mark.parametrize("comma", [b",", b", "])
def test_pieces_of_a_line_begin_behind_a_comma_and_have_names(comma, natural):
    members = [b'"k%03d":{"id":%d}' % (number, number) for number in range(400)]
    cut = splitters.split(b"{" + comma.join(members) + b"}", "json", 3_000, natural)
    named = {piece.name: cut.content(piece).strip(b"{")[:7] for piece in cut.pieces}
    assert named == {name: b'"%b":' % name.encode() for name in named}
    assert next(iter(named)) == "k000"
    assert len(named) == len(cut.pieces) > 2


def test_a_line_over_the_target_is_cut_between_its_members():
    code = b"{" + b",".join(b'"key%d": [1, 2]' % number for number in range(50)) + b"}"
    assert all(content.startswith(b'"key') for content in contents(code, "json", 100)[1:])


def test_where_syntax_is_broken_the_rest_is_cut_well():
    good = b"int f(void)\n{\n  return 1;\n}\n\n"
    bad = b"#define_bad (((\n<<<<<<< HEAD\nfoo( {\n=======\n>>>>>>> b\n"
    pieces = contents(good * 10 + bad + good * 10, "c", 80)
    assert sum(content.count(good) for content in pieces) == 20


@pytest.mark.parametrize(
    ("code", "language", "parts"),
    [
        (b"para-a\n\npara-b\n\npara-c\n", None, [b"para-a\n\n", b"para-b\n\n", b"para-c\n"]),
        (
            b'{\n  "a": {\n    "x": 1\n  },\n  "b": [1, 2]\n}\n',
            "json",
            [b'{\n  "a": {\n    "x": 1\n  },\n', b'  "b": [1, 2]\n}\n'],
        ),
        (b'{"a": {"x": 1}, "b": [1, 2]}\n', "json", [b'{"a": {"x": 1}, "b": [1, 2]}\n']),
        (
            b"# A\n\ntext\n\n## B\n\n```\n# no\n```\n\n# C\n",
            "markdown",
            [b"# A\n\ntext\n\n", b"## B\n\n```\n# no\n```\n\n", b"# C\n"],
        ),
        (
            b"import os\nimport re\n\ndef f():\n    pass\nclass A:\n    x = 1\n",
            "python",
            [b"import os\nimport re\n\n", b"def f():\n    pass\n", b"class A:\n    x = 1\n"],
        ),
        (
            b"module M where\n\nimport A\n\nf :: Int -> Int\nf 0 = 1\nf x = x\n\ng = 2\n",
            "haskell",
            [
                b"module M where\n\nimport A\n\n",
                b"f :: Int -> Int\nf 0 = 1\nf x = x\n\n",
                b"g = 2\n",
            ],
        ),
        (
            b"/* A. */\n#ifndef A\n#define A\n\n#ifdef B\nint b(void);\n#endif\n\nint c(void);\n"
            b"#endif\n",
            "c",
            [
                b"/* A. */\n#ifndef A\n#define A\n\n",
                b"#ifdef B\nint b(void);\n#endif\n\n",
                b"int c(void);\n#endif\n",
            ],
        ),
        (b"# A\n---\na:\n  x: 1\nb: 2\n", "yaml", [b"# A\n---\na:\n  x: 1\n", b"b: 2\n"]),
        (
            b"a: 1\n...\n# B\n---\nb: 2\nc: 3\n--- # D\n- d\n",
            "yaml",
            [b"a: 1\n...\n", b"# B\n---\nb: 2\nc: 3\n", b"--- # D\n- d\n"],
        ),
    ],
)
def test_each_declaration_section_member_or_paragraph_is_a_piece_when_asked_for(
    code, language, parts
):
    assert contents(code, language, natural=True) == parts


@pytest.mark.parametrize(
    "comment",
    [b"  /**\n   * Two.\n   */\n", b"  // Two,\n  // too.\n", b"  // Two.\n  /* Too. */\n"],
)
def test_a_comment_below_a_body_that_is_only_indented_stays_with_what_it_describes(comment):
    one = b"object A {\n  def one: Int =\n    1 + 1 /* 2 */\n\n"
    two = comment + b"  def two: Int =\n    2\n}\n"
    assert contents(one + two, "scala", 64) == [one, two]


@pytest.mark.parametrize("row", [b"/* /* a */ */", b"val a = 1 /* a */", b"/* a */ */"])
def test_what_is_no_comment_by_itself_is_not_taken_for_one(row):
    borders = [Border(len(row) + 1, Rank.CLEAN, 0)]
    assert list(lifted(borders, row + b"\nb", (b"//", b"/*", b"*/"), 64)) == [
        Border(len(row) + 1, Rank.CLEAN, 0)
    ]


def test_borders_of_comments_above_something_are_no_good_ones():
    text = b"// a\n// b\ndef c\n"
    borders = [Border(at, Rank.CLEAN, 0) for at in (0, 5, 10)]
    found = lifted(borders, text, (b"//", b"/*", b"*/"), 64)
    ranks = [(0, Rank.CLEAN), (5, Rank.BROKEN), (10, Rank.BROKEN)]
    assert [(border.at, border.rank) for border in found] == ranks


BELOW = [
    ("yaml", b"a: 1\nb:\n  - 1\n\n", b"# C,\n# too.\nc:\n  - 2\n"),
    ("yaml", b"a: 1\nb: 2\nc:\n  - 1\n  # c\n", b"d:\n  - 2\n  - 3\n"),
    ("toml", b"[a]\nb = 1\n\n", b"# C.\n[[c]]\nd = 1\n"),
    ("toml", b"[a]\nb = '''\n# b'''\n", b"[c]\nd = 1\ne = 2\nf = 3\n"),
    ("kotlin", b"package a\n\nimport b.c\n\n", b"/** D. */\nclass D {\n    val e = 1\n}\n"),
    ("haskell", b"module A where\n\nimport B\n\n", b"-- | C.\nc :: Int\nc = 1\n"),
]
"""What a grammar takes for a part of what is before: a comment of what is below, or of that."""


@pytest.mark.parametrize(("language", "one", "two"), BELOW)
def test_a_comment_stays_with_what_it_stands_above_also_where_the_grammar_has_it_elsewhere(
    language, one, two
):
    for target in range(max(len(one), len(two)) + 2, len(one + two)):
        assert contents(one + two, language, target) == [one, two]


@pytest.mark.parametrize(("language", "one", "two"), [BELOW[0], BELOW[2], *BELOW[4:]])
def test_a_natural_piece_has_the_comment_that_stands_above_it(language, one, two):
    assert contents(one + two, language, natural=True)[-1] == two


def test_a_block_of_terraform_that_fits_is_not_cut():
    one = b'variable "a" {\n  b = 1\n}\n'
    two = b'resource "c" "d" {\n  e = 1\n  f = 2\n  g = 3\n}\n'
    for target in range(len(two) + 2, len(one + two)):
        assert contents(one + two, "hcl", target) == [one, two]


@pytest.mark.parametrize("language", ["markdown", "rst"])
def test_a_section_is_named_under_the_heading_that_it_is_under(language):
    text = b"A\n===\n\nB\n===\n\nC\n---\n\nD\n---\n\nE\n===\n"
    named = [piece.name for piece in splitters.split(text, language, natural=True).pieces]
    assert named == ["A", "B", "B / C", "B / D", "E"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_whatever_ends_them(end):
    code = end.join([b"def f():", b"    pass", b"def g():", b"    pass", b""])
    pieces = splitters.split(code, "python", 28).pieces
    assert [(lines(piece), piece.name) for piece in pieces] == [((1, 2), "f"), ((3, 4), "g")]


@pytest.mark.parametrize("sign", ["\f", "\v", "\x85", "\u2028"])
def test_what_is_no_line_break_ends_no_line(sign):
    (piece,) = splitters.split(f"a{sign}b\nc\n".encode()).pieces
    assert lines(piece) == (1, 2)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_cut_where_the_same_text_is_cut(encoding):
    code = "def f():\n    return '\N{GRINNING FACE}'\n\ndef g():\n    return 'ä'\n"
    pieces = contents(code.encode(encoding), "python", 70)
    assert [one.decode(encoding if not at else encoding[:9]) for at, one in enumerate(pieces)] == [
        code[: code.index("def g")],
        code[code.index("def g") :],
    ]


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
def test_no_character_of_utf_32_is_cut_nor_a_line_counted_twice(encoding):
    data = ("\ufeff" + "ä = '\N{GRINNING FACE}'\r\n" * 20).encode(encoding) + b"\xff"
    cut = splitters.split(data, "python", 110)
    assert {piece.size for piece in cut.pieces[1:-1]} == {108}
    assert [lines(piece) for piece in cut.pieces[:2]] == [(1, 2), (3, 5)]
    assert b"".join(map(cut.content, cut.pieces)) == data


def test_no_character_is_cut_nor_a_line_break_of_two_bytes():
    for text in ("ä€\N{GRINNING FACE}" * 50, "\r\n" * 50):
        for target in range(4, 12):
            assert "".join(one.decode() for one in contents(text.encode(), None, target)) == text
            assert not any(one.startswith(b"\n") for one in contents(text.encode(), None, target))


def test_no_surrogate_pair_is_cut():
    text = "abcde\N{GRINNING FACE}" * 40
    pieces = contents(text.encode("utf-16-le"), None, 10)
    assert "".join(piece.decode("utf-16-le") for piece in pieces) == text


@pytest.mark.parametrize("target", [8_000, 20_000, 32_768])
def test_of_thousands_of_declarations_each_piece_is_named_by_its_first(target):
    """Most of them are leapt over; the places to which it leaps are ends of lines now and then."""
    data = b"package a\n\n" + b"".join(b"func f%d() {\n\treturn\n}\n\n" % n for n in range(4_000))
    cut = splitters.split(data, "go", target)
    firsts = [cut.content(piece).split(b"(", 1)[0] for piece in cut.pieces[1:]]
    assert firsts == [f"func {piece.name}".encode() for piece in cut.pieces[1:]]


def test_no_declaration_is_leapt_over_for_a_statement_behind_it():
    code = b"def f():\n    pass\n\n" * 1_000 + b"x = 1\n" + b"s = '''\n%s'''\n" % (b"a\n" * 10_000)
    _, second = contents(code, "python")
    assert second.startswith(b"def f():\n    pass\n\nx = 1\ns = '''")


def test_comments_that_are_larger_than_a_piece_fill_one_with_what_is_before_them():
    code = b"a = 1\n" + b"# said\n" * 200 + b"def f():\n    pass\n"
    assert len(contents(code, "python", 500)[0]) > 375
