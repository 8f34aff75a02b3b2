"""Large files, parsed a window at a time: they are cut as if they had been parsed as a whole."""

import tracemalloc
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splitters
from splitters.source import Source, read
from splitters.split import cut
from splitters.syntax import parse
from splitters.table import BY_NAME
from splitters.windows import LEAST, Window
from splitters.windows import windows as parsed

LARGE = 6 * LEAST
"""Bytes of a file that has some windows."""
ROWS = [row for row in splitters.LANGUAGES if row.item]
FOLDERS = Path(__file__).parent / "languages"


def windows(code: bytes, language: str) -> list[int]:
    """Where they end."""
    return [one.tree.root_node.end_byte for one in parsed(code, BY_NAME[language])]


@lru_cache(maxsize=1)
def parsed_as_whole(code: bytes, language: str) -> tuple[Source, list[Window] | None]:
    """Kept for the next target: parsing takes longest."""
    source = read(code)
    tree = parse(source.text, BY_NAME[language])
    return source, [Window(tree)] if tree else None


def as_whole(code: bytes, language: str, target: int) -> splitters.Pieces:
    source, window = parsed_as_whole(code, language)
    return cut(code, source, window, BY_NAME[language], target, natural=False)


def peak(code: bytes, language: str, target: int = splitters.TARGET) -> float:
    """What splitting takes at most, in file sizes; nodes come from Python's allocator."""
    tracemalloc.start()
    splitters.split(code, language, target)
    _, taken = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / len(code)


def sample(language: str) -> bytes:
    (path,) = (FOLDERS / language).glob("sample.*")
    return path.read_bytes()


def test_these_languages_have_windows():
    names = {"go", "javascript", "markdown", "python", "rust", "tsx", "typescript"}
    assert {row.name for row in ROWS} == names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("target", [splitters.TARGET, 3_000])
def test_a_large_file_is_cut_as_a_whole_one(row, target):
    code = (sample(row.name) + b"\n") * (LARGE // len(sample(row.name)))
    assert len(windows(code, row.name)) > 4
    assert splitters.split(code, row.name, target) == as_whole(code, row.name, target)


LONG = {
    "python": [
        b"s = '''\n%s'''\n\n" % (b"\n\ndef f():\n    pass\n" * 3_000),
        b"if a:\n%selse:\n    b()\n\n" % (b"    f(1)\n\n" * 3_000),
        b"f(\n%s)\n\n" % (b"\n\nA = 1,\n" * 3_000),
        b"class A:\n%s\n" % (b"    def f(self):\n        return 1\n\n" * 3_000),
        b"# %s\n\n" % (b"said at length " * 25) * 120,
        b"# c\n\n" + b"# %s\n" % (b"said at length " * 25) * 120 + b"def f():\n    pass\n\n",
    ],
    "javascript": [
        b"let s = `\n%s`;\n\n" % (b"\n\nfunction f() {}\n" * 3_000),
        b"/*\n%s*/\n\n" % (b"\n\nfunction f() {}\n" * 3_000),
        b"let a = 1,\n%s  b = 2;\n\n" % (b"  x = 2,\n\n" * 5_000),
        b"try {\n%s}\n\ncatch (e) {\n}\n\n" % (b"f(1)\n\n" * 8_000),
        b"if (a) {\n%s}\n\nelse {\n}\n\n" % (b"f(1)\n\n" * 8_000),
        b"(function () {\n%s})();\n\n" % (b"let a = 1;\n\n" * 4_000),
        b"export default\n\nfunction f() {\n%s}\n\n" % (b"  g(1)\n\n" * 5_000),
    ],
    "typescript": [
        b"export function f(a: number): void;\n\n" * 1_500,
        b"@A({\n%s})\n\nexport class B {}\n\n" % (b"  a: 1,\n\n" * 5_000),
    ],
    "go": [
        b"var s = `\n%s`\n\n" % (b"\n\nfunc f() {}\n" * 3_000),
        b"var (\n%s)\n\n" % (b"\ta = 1\n\n" * 5_000),
        b"/*\n%s*/\n\n" % (b"\n\nfunc f() {}\n" * 3_000),
    ],
    "rust": [
        b'const S: &str = r#"\n%s"#;\n\n' % (b"\n\nfn f() {}\n" * 3_000),
        b"#[a]\n\n" + b"// %s\n" % (b"said at length " * 25) * 120 + b"fn f() {}\n\n",
        b"mod a {\n%s}\n\n" % (b"\nfn f() {}\n\n" * 4_000),
        b"/* /*\n%s*/ */\n\n" % (b"\n\nfn f() {}\n" * 3_000),
    ],
    "markdown": [
        b"```\n%s```\n\n" % (b"\n\n# no\n" * 6_000),
        b"<!--\n%s-->\n\n" % (b"\n\n# no\n" * 6_000),
        b"~~~\n\n" + b"# no\n\n" * 6_000,
        b"- a\n\n%s" % (b"  # in it\n\n" * 4_000),
        b"## A\n\ntext\n\n" * 3_000,
        b"# A\n\n%s" % (b"### B\n\ntext\n\n" * 3_000),
    ],
}
"""Items that are longer than a window, with what looks like others inside, or that seem to end
before they do."""
FIGURES = b"    1, 0x2f, -3.5e3,\n" * 4_000
TABLES = {
    "python": [
        b"T = [\n%s]\n\n" % FIGURES,
        b"class A:\n    t = {\n%s        9: 1,\n%s    }\n\n" % (FIGURES, FIGURES),
        b"S = '''\n%s'''\n\n" % FIGURES,
        b"if a:\n%s    b()\n\n" % FIGURES,
    ],
    "javascript": [
        b"const T = [\n%s];\n\n" % FIGURES,
        b"f([[\n%s  ],\n  [\n%s    7]]);\n\n" % (FIGURES, FIGURES),
        b"let s = `\n%s`;\n\n" % FIGURES,
        b"let t = (0,\n%s    1);\n\n" % FIGURES,
        b"/*\n%s*/\n\n" % FIGURES,
    ],
    "go": [
        b"var t = []byte{\n%s}\n\n" % FIGURES,
        b"var t = []byte{\n%s    // so far\n%s}\n\n" % (FIGURES, FIGURES),
        b"var t = []byte{\n%s}\n\n" % ((b"    2,\n" * 300 + b"    // a\n" + FIGURES[:30_009]) * 5),
        b"var (\n\ta = f(\n%s\t)\n\tb = 1\n)\n\n" % FIGURES,
    ],
    "rust": [b"const T: [u8; 9] = [\n%s];\n\n" % FIGURES],
}
for name, tables in TABLES.items():
    LONG[name] += tables
LONG["tsx"] = LONG["typescript"] = [*LONG["javascript"], *LONG["typescript"]]


@pytest.mark.parametrize(
    ("language", "item"), [(name, item) for name, items in LONG.items() for item in items]
)
def test_an_item_that_a_window_ends_inside_is_cut_as_in_the_whole_file(language, item):
    usual = (sample(language) + b"\n") * (3 * LEAST // 2 // len(sample(language)))
    code = usual + item + usual + item + usual
    for target in (splitters.TARGET, 3_000):
        assert splitters.split(code, language, target) == as_whole(code, language, target)


@pytest.mark.parametrize("language", LONG)
@settings(max_examples=6, deadline=None)
@given(picks=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=4, max_size=9))
def test_whatever_a_file_is_made_of_it_is_cut_as_a_whole_one(language, picks):
    parts = [sample(language) + b"\n", *(item[:7_000] + item[-3_000:] for item in LONG[language])]
    code = b"".join(parts[pick % len(parts)] * times for pick, times in picks)
    code += (sample(language) + b"\n") * max(0, 5 - len(code) // LEAST)
    found = parse(code, BY_NAME[language])
    if found and not found.root_node.has_error:
        assert splitters.split(code, language) == as_whole(code, language, splitters.TARGET)


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_any_line_ends_will_do(end):
    code = ((sample("go") + b"\n") * (LARGE // len(sample("go")))).replace(b"\n", end)
    assert splitters.split(code, "go") == as_whole(code, "go", splitters.TARGET)
    assert len(windows(read(code).text, "go")) > 4


def test_a_file_in_utf_16_has_windows():
    code = ((sample("go") + b"\n") * (LARGE // len(sample("go")))).decode().encode("utf-16")
    assert splitters.split(code, "go") == as_whole(code, "go", splitters.TARGET)


@pytest.mark.parametrize("language", TABLES)
def test_rows_of_figures_are_left_out_of_a_long_window(language):
    code = TABLES[language][0].replace(FIGURES, FIGURES * 3) * 2
    found = [one.figures for one in parsed(code, BY_NAME[language])]
    assert [len(rows) for rows in found] == [1, 1]


@pytest.mark.parametrize(("rows", "target"), [(300, 8_000), (600, 32_768)])
def test_rows_that_were_left_out_are_not_leapt_over(rows, target):
    """Where borders are many, some are left out; here some of them are of rows already."""
    table = (b"    a,\n" * 150 + b"    1, 0x2f, -3.5e3,\n" * rows) * (LARGE // (21 * rows))
    code = b"package a\n\nvar t = []byte{\n%s}\n\n" % table + b"func f() {\n\treturn\n}\n\n" * 2_000
    assert splitters.split(code, "go", target) == as_whole(code, "go", target)


def test_a_table_takes_no_tree():
    """Parsed as a whole it takes 62 times its size."""
    assert peak(TABLES["go"][0].replace(FIGURES, FIGURES * 12), "go") < 3


def test_what_is_not_valid_is_the_last_window():
    usual = (sample("go") + b"\n") * (LARGE // len(sample("go")))
    ends = windows(usual + b"func (((\n\n" + usual, "go")
    assert ends[-2] < len(usual) < ends[-1] == 2 * len(usual) + 10


def test_a_file_that_is_not_valid_is_parsed_in_a_window_as_in_a_document():
    """How it is recovered from an error depends on the lines that are skipped for it."""
    data = (
        b"if len(s.jars) == cap(s.jars) {\nif !check(jar) {\nreturn errors.New(`\n"
        b"return errors.New(`\nfunc (s Shelf) N\x19W\xb3\xd5\xe4!\x1e\x9e\xcd\xa3\x82\x98\n"
        b"\xa9\xdd)+\x0b1!s.jars = append(s.jars, jar)\nfunc (Jar) Kind() string { return 0 }\n"
        b"func (j Jar) String() string {\n}\n}"
    )
    assert splitters.Document.of(data, "go").split(100) == splitters.split(data, "go", 100)


def test_windows_that_are_too_long_in_all_are_text():
    code = b"def f(a):\n    return [a, a + 1]\n\n\n" * 100_000  # a window takes 0.01 s, all 0.2
    assert splitters.split(code, "python", seconds=0.06) == splitters.split(code)


def test_windows_that_are_parsed_in_time_are_cut_as_ever():
    code = (sample("go") + b"\n") * (LARGE // len(sample("go")))
    assert splitters.split(code, "go", seconds=60) == splitters.split(code, "go")


def test_a_large_file_takes_no_tree_of_all_of_it():
    """Parsed as a whole it takes 60 times its size, by the trees of two windows 8 times."""
    assert peak(b"func f(a int) int {\n\treturn a + [2]int{1, 2}[a%2]\n}\n\n" * 40_000, "go") < 10


def test_a_large_piece_holds_no_tree_of_a_window_before():
    """If its borders held them it would take twice as much."""
    code = b"# A\n\n*b* `c` [d](e) f\n\n" * 12_000
    assert peak(code, "markdown", len(code) // 2) < 1.5 * peak(code, "markdown")
