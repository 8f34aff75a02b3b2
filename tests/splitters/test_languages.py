"""Each language on a file of its own: what is declared in it, and where it is cut."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from splitters import LANGUAGES, Declaration, UnknownLanguageError, outline, split
from splitters.table import BY_NAME

FOLDERS = sorted((Path(__file__).parent / "languages").iterdir())
SEED = {"md", "cpp", "py", "xml", "js", "ts", "json", "yaml", "go", "rs", "java"}
"""The type names that index files may already hold; and `txt`, which is no language."""
PAGE = Path(__file__).parents[2] / "docs" / "languages.md"


def source(folder: Path) -> bytes:
    (found,) = (path for path in folder.iterdir() if path.suffix != ".txt")
    return found.read_bytes()


def listed(data: bytes, declarations: Iterable[Declaration], depth: int = 0) -> Iterator[str]:
    """A line each: kind, name, lines, and the line where what is attached above begins."""
    for one in declarations:
        above = data.count(b"\n", 0, one.above) + 1
        since = f" from {above}" if above != one.first_line else ""
        yield f"{'  ' * depth}{one.kind} {one.name} {one.first_line}-{one.last_line}{since}"
        yield from listed(data, one.children, depth + 1)


def test_each_language_has_a_folder():
    assert [folder.name for folder in FOLDERS] == sorted(row.name for row in LANGUAGES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_outline_says_what_a_file_declares(folder):
    data = source(folder)
    expected = (folder / "outline.txt").read_text(encoding="utf-8").splitlines()
    assert list(listed(data, outline(data, BY_NAME[folder.name]).declarations)) == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_file_is_cut_where_a_reader_would(folder):
    pieces = split(source(folder), folder.name, 512).pieces
    expected = [int(line) for line in (folder / "cuts.txt").read_text().split()]
    assert [piece.first_line for piece in pieces] == expected


@pytest.mark.parametrize("field", ["suffixes", "files", "interpreters", "aliases"])
def test_nothing_tells_two_languages(field):
    told = list(chain.from_iterable(getattr(row, field) for row in LANGUAGES))
    assert len(told) == len(set(told))


def test_the_names_of_types_in_older_indexes_are_known():
    assert BY_NAME.keys() >= SEED


@pytest.mark.parametrize(
    ("said", "name"),
    [
        *(("hpp", "cpp"), ("h", "c"), ("yml", "yaml"), ("html", "html"), ("tsx", "tsx")),
        *(("jsonc", "json"), ("c++", "cpp"), ("shell", "bash"), ("terraform", "hcl")),
    ],
)
def test_a_suffix_or_another_name_will_do(said, name):
    assert BY_NAME[said].name == name


@pytest.mark.parametrize("said", ["python", "py", ".py", "Python", ".PYI"])
def test_a_language_may_be_said_in_capitals_or_as_a_suffix(said):
    assert split(b"x = 1\n", said).language == "python"


@pytest.mark.parametrize(("said", "meant"), [("pyhton", "python"), ("Typscript", "typescript")])
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(said, meant):
    with pytest.raises(UnknownLanguageError) as raised:
        split(b"", said)
    assert str(raised.value) == f"No language is called {said}: did you mean {meant}?"


def test_an_unknown_name_is_answered_with_all_that_are_known():
    names = ", ".join(sorted(row.name for row in LANGUAGES))
    with pytest.raises(UnknownLanguageError, match=re.escape(f"text, {names}")):
        split(b"", "klingon")


def test_the_page_lists_the_rows_of_the_table():
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    written = {tuple(cell.strip() for cell in row[:2]) for row in rows if len(row) == 3}
    told = {
        (row.name, " ".join(f"`{one}`" for one in (*row.suffixes, *row.files))) for row in LANGUAGES
    }
    assert written - {("Language", "Files"), ("---", "---")} == told


def test_a_body_stays_with_the_macro_before_it():
    data = b"int x;\n\nSYSCALL_DEFINE3(read, int, fd)\n{\n\treturn ksys_read(fd);\n}\n\nint y;\n"
    (_, call, _) = split(data, "c", 62).pieces
    assert data[call.start : call.end].startswith(b"SYSCALL_DEFINE3(read, int, fd)\n{\n")


def test_the_clauses_of_one_function_stay_together():
    data = b"".join(b"def %c(0), do: 1\ndef %c(n), do: n\n" % (one, one) for one in b"fgh")
    starts = [data[piece.start : piece.start + 8] for piece in split(data, "elixir", 60).pieces]
    assert starts == [b"def f(0)", b"def g(0)", b"def h(0)"]
