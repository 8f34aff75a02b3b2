"""`outline`: files and folders, text and JSON, and what cannot be outlined."""

import os
import re
from pathlib import Path

import pytest

import splitters
from tests.unprivileged import unprivileged

SOURCE = """\
class Sum:
    def add(self):
        def inner():
            return 1
        return inner

def zero():
    return 0
"""


@pytest.fixture
def folder(home, tmp_path, monkeypatch):
    place = tmp_path / "place"
    place.mkdir()
    (place / "sums.py").write_text(SOURCE)
    (place / "use.py").write_text("from sums import Sum\n")
    (place / "notes.unknown").write_text("Sum\n")
    monkeypatch.chdir(place)
    return place


def test_a_file_is_outlined_as_a_tree(folder, orchestrator):
    said = orchestrator("outline", "sums.py")
    assert (said.code, said.err) == (0, "")
    assert said.text == (
        "sums.py  python\n"
        "1-5  class Sum\n"
        "2-5    def add(self)\n"
        "3-4      def inner()\n"
        "7-8  def zero()\n"
    )


def test_the_example_of_the_page_is_what_is_printed(orchestrator, monkeypatch):
    root = Path(splitters.__file__).parents[1]
    page = (root / "docs/outline.md").read_text()
    words, shown = re.search(r"(?ms)^\$ orchestrator (outline .*?)\n(.*?)^```", page).groups()
    monkeypatch.chdir(root)
    assert orchestrator(*words.split()).text == shown


def test_depth_bounds_the_nesting(folder, orchestrator):
    text = orchestrator("outline", "sums.py", "--depth", "1").text
    assert text == "sums.py  python\n1-5  class Sum\n7-8  def zero()\n"


def test_of_a_folder_files_that_declare_something_are_shown(folder, orchestrator):
    assert orchestrator("outline", ".", "--depth", "1").text == (
        "sums.py  python\n1-5  class Sum\n7-8  def zero()\n"
    )


def test_a_file_that_was_named_is_shown_in_any_case(folder, orchestrator):
    said = orchestrator("outline", "notes.unknown", "sums.py", "--depth", "1", ".")
    assert said.text.startswith("notes.unknown  text\n(no declarations)\n\nsums.py  python\n")
    assert said.text.count("sums.py") == 1


def test_json_has_every_file_and_nests(folder, orchestrator):
    said = orchestrator("outline", ".", "--json")
    assert [each["path"] for each in said.json] == ["notes.unknown", "sums.py", "use.py"]
    declared = said.json[1]["declarations"]
    assert [each["name"] for each in declared] == ["Sum", "zero"]
    assert declared[0]["children"][0]["children"][0] == {
        "kind": "function",
        "name": "Sum.add.inner",
        "start": 38,
        "end": 71,
        "first_line": 3,
        "last_line": 4,
        "children": [],
        "signature": "def inner()",
        "above": 38,
    }


def test_what_has_no_outline_is_told_and_the_rest_is_shown(folder, orchestrator):
    (folder / "a.py").write_bytes(b"\0\1\2")
    with (folder / "b.py").open("wb") as file:
        file.truncate((16 << 20) + 1)
    said = orchestrator("outline", ".")
    assert (said.code, said.text.splitlines()[0]) == (0, "sums.py  python")
    assert said.err == "note: a.py: it is binary\nnote: b.py: it has more than 16 MiB\n"


def test_a_named_file_that_cannot_be_read_is_an_error_and_the_rest_is_shown(folder, orchestrator):
    os.mkfifo(folder / "pipe.py")
    (folder / "link.py").symlink_to("link.py")
    said = orchestrator("outline", "pipe.py", "sums.py")
    assert (said.code, said.text.splitlines()[0]) == (2, "sums.py  python")
    assert said.err == "note: pipe.py: it cannot be read: no plain file\n"
    assert orchestrator("outline", "link.py").code == 2


@pytest.mark.parametrize("name", ["shut", "shut/a.py"])
def test_a_folder_that_cannot_be_read_is_an_error(folder, orchestrator, name):
    (folder / "shut").mkdir(mode=0)
    with unprivileged():
        said = orchestrator("outline", name)
    assert (said.code, said.err) == (2, f"error: {name} cannot be read: Permission denied.\n")


def test_an_empty_path_is_not_taken_for_the_folder_one_is_in(folder, orchestrator):
    said = orchestrator("outline", "")
    assert (said.code, said.out) == (2, b"")
    assert said.err == "error: A path is empty: name a file or a folder.\n"


@pytest.mark.parametrize("words", [(), ("--json",)])
@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("bin.py", "it is binary"),
        ("big.py", "it has more than 16 MiB"),
        ("/proc/self/mem", "it cannot be read: Input/output error"),
        # Written only, by root as well.
        ("/proc/sys/vm/drop_caches", "it cannot be read: Permission denied"),
    ],
)
def test_a_named_file_without_text_ends_with_2_and_the_rest_is_shown(
    folder, orchestrator, name, trouble, words
):
    (folder / "bin.py").write_bytes(b"\0\1\2")
    (folder / "big.py").write_bytes(b"\n" * ((16 << 20) + 1))
    said = orchestrator("outline", name, "sums.py", *words)
    assert (said.code, trouble in said.err + said.text) == (2, True)
    assert "sums.py" in said.text


def test_a_missing_file_is_one_sentence_and_nothing_is_shown(folder, orchestrator):
    said = orchestrator("outline", "sums.py", "gone.py")
    assert (said.code, said.out) == (2, b"")
    assert said.err == "error: There is no file or folder gone.py: check the path.\n"


def test_names_do_not_drive_the_terminal(folder, orchestrator):
    (folder / "\x1b[2J.py").write_text("def f(): ...\n")
    assert "\x1b" not in orchestrator("outline", ".").text


@pytest.mark.parametrize("words", [(), ("--map",), ("--json",)])
def test_without_a_path_it_is_of_the_folder_one_is_in(folder, orchestrator, words):
    said = orchestrator("outline", *words)
    assert (said.code, said.out) == (0, orchestrator("outline", ".", *words).out)
    assert "sums.py" in said.text


def test_a_map_shows_what_others_mention_first(folder, orchestrator):
    assert orchestrator("outline", ".", "--map").text == (
        "sums.py\n     1  class Sum\n     7  function zero\n"
    )


def test_a_file_that_is_too_large_for_a_map_is_not_said_to_declare_nothing(folder, orchestrator):
    (folder / "big.py").write_text(SOURCE * 4_000)
    said = orchestrator("outline", "big.py", "--map")
    assert (said.code, said.out) == (0, b"")
    assert "over 256 KiB left out" in said.err


def test_what_lies_above_the_folder_does_not_matter(folder, orchestrator, tmp_path):
    place = folder / "node_modules/tests/own"
    place.mkdir(parents=True)
    (place / "sums.py").write_text("def zero(): ...\n")
    text = orchestrator("outline", str(place), "--map").text
    assert text == f"{place}/sums.py\n     1  function zero\n"


def test_a_map_keeps_to_its_tokens(folder, orchestrator):
    found = orchestrator("outline", ".", "--map", "--tokens", "7", "--json").json
    assert [each["path"] for each in found["files"]] == ["sums.py"]
    assert [each["name"] for each in found["files"][0]["declarations"]] == ["Sum"]
    assert (found["tokens"], found["left_out"]) == (7, 1)


def test_a_file_that_is_nested_too_deep_is_shown_with_a_note(folder, orchestrator):
    (folder / "deep.js").write_text("function f() {" * 90 + "}" * 90)
    said = orchestrator("outline", "deep.js", "--depth", "1")
    assert (said.code, said.text) == (0, "deep.js  javascript\n1  function f()\n")
    assert said.err.startswith("note: deep.js: not all of its declarations are listed")


def test_tokens_without_a_map_are_refused(folder, orchestrator):
    said = orchestrator("outline", ".", "--tokens", "7")
    assert (said.code, said.err) == (2, "error: --tokens is the size of a map: add --map.\n")


def test_a_depth_of_a_map_is_refused(folder, orchestrator):
    said = orchestrator("outline", ".", "--map", "--depth", "1")
    assert (said.code, said.out) == (2, b"")
    assert said.err.startswith("error: --depth is of outlines")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_outlined_with_a_mark_and_without(folder, orchestrator, encoding):
    (folder / "wide.py").write_bytes(SOURCE.encode(encoding))
    said = orchestrator("outline", "wide.py", "--depth", "1")
    assert (said.text, said.err) == ("wide.py  python\n1-5  class Sum\n7-8  def zero()\n", "")
