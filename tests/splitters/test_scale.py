"""Files that are too deep, too wide or too long for naive ways through them."""

import subprocess
import sys
import time
from random import Random

import pytest

import splitters
from splitters.document import Document
from splitters.table import BY_NAME

BUDGET = 10.0
"""Processor seconds on the slowest machine; two on a usual one, hours for what is quadratic."""


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("json", b"[" * 3_000 + b"]" * 3_000),
        ("json", b'{"a":\n' * 20_000 + b"1" + b"}" * 20_000),
        ("python", b"x = " + b"(" * 3_000 + b"1" + b")" * 3_000),
        ("javascript", b"x" + b".foo()\n" * 50_000),
        ("html", b"<div>" * 3_000),
        ("json", b"[" + b"1," * 300_000 + b"1]"),
        ("json", b"[\n" + b"1,\n" * 300_000 + b"1]"),
        ("python", b"x=1\n" * 300_000),
        ("yaml", b"- a: 1\n  b: 2\n" * 40_000),
        ("markdown", b"# A\n\nb\n\n" * 50_000),
        ("python", b's = """' + b"foo bar\n" * 120_000 + b'"""\n'),
        ("c", b"((({{{ \n" * 40_000),
        ("scala", b"// a\n" * 20_000),
        ("elixir", b"a" + b".ba" * 100_000),
        ("javascript", b"a" + b'.f("b")' * 80_000),
        ("text", b"word" * 300_000),
    ],
)
def test_no_shape_of_file_takes_long(language, code):
    before = time.process_time()
    cut = splitters.split(code, language, 8_192)
    assert time.process_time() - before < BUDGET
    assert b"".join(cut.content(piece) for piece in cut.pieces) == code
    assert all(piece.size <= 8_192 for piece in cut.pieces)


@pytest.mark.parametrize("language", ["scala", "kotlin"])
def test_natural_pieces_of_many_comments_over_the_target_do_not_take_long(language):
    code = b"// a\n" * 30_000
    before = time.process_time()
    cut = splitters.split(code, language, 3, natural=True)
    assert time.process_time() - before < BUDGET
    assert b"".join(cut.content(piece) for piece in cut.pieces) == code


def test_no_depth_in_a_large_piece_takes_long():
    code = b"<a>\n" * 30_000
    before = time.process_time()
    splitters.split(code, "swift", len(code) // 2)
    assert time.process_time() - before < BUDGET


FLOODS = [b"(", b"[", b"{", b"<", b'"', b"#", b"*", b"-", b"(\n", b"if x:\n", b"@@@ )\n"]


@pytest.mark.parametrize("language", ["python", "ruby", "javascript", "go", "c", "json", "html"])
@pytest.mark.parametrize("flood", FLOODS)
def test_no_flood_of_signs_delays_an_outline(language, flood):
    before = time.process_time()
    splitters.outline(flood * (100_000 // len(flood)), BY_NAME[language])
    assert time.process_time() - before < BUDGET


@pytest.mark.parametrize(
    ("language", "code", "declared"),
    [
        ("python", b"# c\n" + b"def f(): 1\n" * 40_000, 40_000),
        ("javascript", b"function f() " + b"/*c*/ " * 40_000 + b"{}", 1),
        ("javascript", b"function f() /*c*/ {}\n" * 20_000, 20_000),
    ],
)
def test_no_number_of_declarations_or_comments_delays_an_outline(language, code, declared):
    before = time.process_time()
    found = splitters.outline(code, BY_NAME[language])
    assert time.process_time() - before < BUDGET
    assert (len(found.declarations), found.whole) == (declared, True)


def test_an_outline_that_would_take_long_is_not_whole():
    code = b"[" * 9_990 + b"{}," * 100_000 + b"1" + b"]" * 9_990
    before = time.process_time()
    assert not splitters.outline(code, BY_NAME["notebook"]).whole
    assert time.process_time() - before < BUDGET


def test_what_is_too_deep_to_be_looked_at_is_told():
    code = b"f = (" * 11_000 + b"1" + b")" * 11_000
    assert splitters.outline(code, BY_NAME["julia"]).whole is False


LEVELS = 300
"""Blocks inside each other; from 255 on these grammars end the process."""


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("markdown", b"> " * LEVELS + b"a\n"),
        ("markdown", b">" * LEVELS),
        ("markdown", b"-\t" * LEVELS + b"a\n"),
        ("markdown", b"a\r\n\r\n" + b"1. " * LEVELS + b"a\r\n"),
        ("markdown", b"".join(b"  " * level + b"- a\n" for level in range(LEVELS))),
        (
            "markdown",
            "".join("\t" * level + "1) > a\n" for level in range(LEVELS)).encode("utf-16"),
        ),
        ("yaml", b"- " * LEVELS + b"a\n"),
        ("yaml", b"? " * LEVELS),
        ("yaml", b"".join(b" " * level + b"a:\n" for level in range(LEVELS))),
        (
            "yaml",
            b"".join(b"  " * level + b"a:\n" + b"  " * level + b"- b:\n" for level in range(150)),
        ),
    ],
)
def test_what_would_break_its_grammar_is_text(language, code):
    assert splitters.split(code, language, 512) == splitters.split(code, target=512)
    assert splitters.outline(code, BY_NAME[language]) == splitters.Outline((), whole=False)
    document = Document.of(b"a\n", language).edit(0, 2, code)
    assert document.split(512) == splitters.split(code, target=512)
    assert document.edit(0, len(code), b"a\n").split() == splitters.split(b"a\n", language)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("markdown", b"> " * 45 + b"a\n"),
        ("markdown", b"a | b\n" + b"-" * 500 + b"\n" + b" " * 500 + b"a\n" + b"1" * 500 + b"\n"),
        ("markdown", b"".join(b"    " * level + b"- a\n" for level in range(45))),
        ("yaml", b"".join(b"  " * level + b"a:\n" for level in range(90))),
        ("yaml", b"a: |\n" + b"".join(b" " * (9 * level + 1) + b"a\n" for level in range(90))),
        ("yaml", b"a: |\n  " + b"-" * 500 + b"\n"),
    ],
)
def test_what_only_looks_deep_is_parsed(language, code):
    assert splitters.split(code, language).language == language
    assert splitters.outline(code, BY_NAME[language]).whole


def test_what_takes_too_long_to_parse_is_cut_as_text():
    code = Random(1).randbytes(400_000)  # seconds, were it parsed
    before = time.process_time()
    cut = splitters.split(code, "python", seconds=0.05)
    assert time.process_time() - before < BUDGET / 4
    assert cut == splitters.split(code)
    assert {piece.language for piece in cut.pieces} == {"text"}


def test_what_is_parsed_in_time_is_cut_as_ever():
    code = b"def f(a):\n    return [a, a + 1]\n\n\n" * 2_000
    assert splitters.split(code, "python", seconds=60) == splitters.split(code, "python")


def test_a_large_file_that_is_parsed_in_time_does_not_end_the_process(tmp_path):
    code = b"".join(b"def f%d(a):\n    return [a, a + 1]\n\n\n" % each for each in range(20_000))
    tmp_path.joinpath("a.py").write_bytes(code)
    cut = "s.split(pathlib.Path('a.py').read_bytes(), 'python', seconds=60)"
    told = f"import pathlib, splitters as s; print(*(one.name for one in {cut}.pieces))"
    command = [sys.executable, "-c", told]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [one.name for one in splitters.split(code, "python").pieces]


def test_a_target_of_one_byte_is_kept():
    cut = splitters.split("def f():\r\n  return 'ä'\n".encode("utf-16"), "python", 1)
    assert {piece.size for piece in cut.pieces} == {1}


def test_an_edit_is_parsed_in_a_part_of_the_time():
    code = b"def f(a):\n    return [a, a + 1]\n\n\n" * 20_000
    document = Document.of(code, "python")
    began = time.process_time()
    fresh = Document.of(code, "python")
    whole = time.process_time() - began
    began = time.process_time()
    document = document.edit(300_000, 300_000, b"")
    edited = time.process_time() - began
    assert edited < whole / 2
    assert document.split() == fresh.split()


def test_an_edit_is_cut_as_the_new_file_also_where_the_grammar_looks_far():
    text = b" one.\n\nDeeper\n~~~~~~\n\nWords.\n\nLicence\n=======\n\nMIT\n"
    document = Document.of(text, "rst").edit(4, 5, b"::\n\n  c\n")
    cut = splitters.split(document.data, "rst", 40, natural=True)
    assert document.split(40, natural=True) == cut


def test_an_edit_outside_of_the_file_is_refused():
    with pytest.raises(ValueError, match="5 to 6 is not in a file of 3 bytes"):
        Document.of(b"abc").edit(5, 6, b"")
