"""A file becomes pieces and an index: facts S1 to S10, and what may not happen on the way."""

import _pydecimal
import argparse
import os
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

import splitters
from orchestrator.cli import say
from orchestrator.cli.tell import _told
from orchestrator.models.scripted import Script, ScriptedModel, Step
from orchestrator.summarize import Summarizer
from orchestrator.task import Limits
from orchestrator.told import Told

SEED_KEYS = {
    *("source_path", "source_sha256", "source_size_bytes", "source_line_count", "split_type"),
    *("target_bytes", "natural", "created_at", "segment_count", "segments"),
}


@pytest.fixture
def split(orchestrator):
    """Split a file: the index, as `--json` prints it."""
    return lambda *arguments: orchestrator("split", *map(str, arguments), "--json").json


@pytest.fixture
def file(tmp_path):
    """Write a file outside of the home folder."""

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return write


def contents(index) -> list[bytes]:
    return [Path(segment["path"]).read_bytes() for segment in index["segments"]]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_lines_keep_their_endings(split, file):
    """S1"""
    index = split(file("a.txt", b"line1\r\n\r\nline2\n"), "--target-bytes", 7)
    assert index["source_line_count"] == 3
    assert contents(index) == [b"line1\r\n", b"\r\n", b"line2\n"]


def test_a_small_file_is_one_segment(split, file):
    """S2"""
    data = b"def one():\n    return 1\n"
    path = file("one.py", data)
    index = split(path)
    (segment,) = index["segments"]
    known = ("segment_index", "start_line_num", "end_line_num", "start_byte", "end_byte")
    assert {key: segment[key] for key in known} == dict(zip(known, (1, 1, 2, 0, 24), strict=True))
    assert index | {"source_path": str(path), "natural": False, "source_line_count": 2} == index
    assert index["source_sha256"] == segment["sha256"] == sha256(data).hexdigest()
    assert (index["split_type"], index["target_bytes"], index["schema"]) == ("py", 32_768, 1)


def test_blocks_over_the_target_are_cut_between_them(split, file):
    """S3"""
    data = b"block-a\n" * 500 + b"\n" + b"block-b\n" * 500
    index = split(file("blocks.txt", data), "--target-bytes", 4096)
    assert index["segment_count"] >= 2
    assert b"".join(contents(index)) == data
    assert [part for part in contents(index) if b"block-a" in part and b"block-b" in part] == []


def test_each_paragraph_by_itself(split, file):
    """S4"""
    index = split(file("p.txt", b"para-a\n\npara-b\n\npara-c\n"), "--natural")
    assert contents(index) == [b"para-a\n\n", b"para-b\n\n", b"para-c\n"]


def test_two_tiny_functions_are_packed_together(split, file):
    """S5"""
    index = split(file("two.c", b"int a(void) { return 1; }\nint b(void) { return 2; }\n"))
    assert (index["segment_count"], index["split_type"]) == (1, "cpp")


def test_it_prints_where_the_index_is(orchestrator, file):
    """S7"""
    path = file("notes.txt", b"one\n")
    said = orchestrator("split", str(path))
    where = Path(said.text.rstrip("\n"))
    assert (said.code, said.err, where.is_absolute(), where.name) == (0, "", True, "index.json")
    written = msgspec.json.decode(where.read_bytes())
    assert orchestrator("split", str(path), "--json").json.keys() == {*written, "index_path"}
    assert written.keys() >= SEED_KEYS


def test_what_takes_long_is_told(orchestrator, file, monkeypatch):
    """To start the process that parses takes longer than this, too."""
    path = file("notes.txt", b"one\n")
    monkeypatch.setattr(say, "LATE", 0.0)
    said = orchestrator("split", str(path), "--json")
    assert (said.code, said.err) == (0, f"cutting pieces: {path} ...\n")
    Path(said.json["segments"][0]["path"]).write_bytes(b"two\n")
    index = said.json["index_path"]
    assert orchestrator("patch", "--index", index).err == f"merging pieces: {index} ...\n"


def test_the_target_is_kept_and_reached(split, file):
    """S8"""
    index = split(file("many.txt", b"line\n" * 200), "--target-bytes", 256)
    assert index["target_bytes"] == 256
    assert index["segment_count"] > 1
    assert max(map(len, contents(index))) <= 256


def test_a_source_that_grew_is_cut_anew(split, file):
    """S9"""
    path = file("grown.txt", b"one\n")
    first = split(path)
    path.write_bytes(b"one\ntwo\n")
    index = split("--refresh", first["index_path"])
    assert (index["source_line_count"], b"".join(contents(index))) == (2, b"one\ntwo\n")


def test_a_file_that_is_not_there(orchestrator):
    """S10"""
    said = orchestrator("split", "nowhere.txt")
    assert (said.code, said.out, said.err) == (
        1,
        b"",
        "error: Source file not found: nowhere.txt; check the path.\n",
    )


def test_a_file_that_cannot_be_read(orchestrator):
    said = orchestrator("split", "/proc/self/mem")
    assert (said.code, said.out) == (2, b"")
    assert said.err.endswith("/mem cannot be read: Input/output error.\n")


def test_a_refresh_takes_all_settings_from_the_index(split, file):
    """Row 41: the language, the target and `natural` stay; what is left over goes."""
    path = file("p.txt", b"para-a\n\npara-b\n\npara-c\n")
    first = split(path, "--natural", "--target-bytes", 999, "--output", path.parent / "out")
    path.write_bytes(b"para-a\n\npara-b\n")
    index = split("--refresh", first["index_path"])
    assert index | {"natural": True, "target_bytes": 999} == index
    names = {"index.json", "index.base", "p-0001.txt", "p-0002.txt"}
    assert {each.name for each in (path.parent / "out").iterdir()} == names


def test_a_refresh_loses_no_edit(orchestrator, split, file):
    """X8"""
    path = file("p.txt", b"para-a\n\npara-b\n\npara-c\n")
    index = split(path, "--natural")
    Path(index["segments"][1]["path"]).write_bytes(b"edited\n\n")
    path.write_bytes(b"para-a\n")
    before = tree(path.parents[1])
    for arguments in (("--refresh", index["index_path"]), (str(path),)):
        said = orchestrator("split", *arguments)
        assert (said.code, said.out) == (1, b"")
        assert f"orchestrator patch --index {index['index_path']}" in said.err
    assert tree(path.parents[1]) == before


def test_two_files_of_one_stem_in_one_folder(split, file):
    """X11"""
    one, two, three = (file(name, name.encode()) for name in ("a/n.txt", "b/n.txt", "n.md"))
    out = one.parent / "out"
    indexes = [split(path, "--output", out) for path in (one, two, three)]
    assert [contents(index) for index in indexes] == [[b"a/n.txt"], [b"b/n.txt"], [b"n.md"]]
    assert len({index["index_path"] for index in indexes}) == 3
    assert indexes[0]["index_path"] == str(out / "index.json")


def test_files_that_are_there_already_stay(split, file):
    """X11: `--output` of a folder in use; nothing in it is replaced, also no other `index.json`."""
    path, mine = file("a.txt", b"a\n"), file("index.json", b"{}")
    index = split(path, "--output", path.parent)
    assert (mine.read_bytes(), contents(index)) == (b"{}", [b"a\n"])
    assert Path(index["index_path"]).parent.parent == path.parent


@pytest.mark.parametrize("target", ["0", "-5"])
def test_a_target_that_is_none(orchestrator, file, target):
    """X13"""
    said = orchestrator("split", str(file("a.txt", b"a\n")), "--target-bytes", target)
    assert (said.code, said.out) == (2, b"")
    assert f"The target is {target}" in said.err


@pytest.mark.parametrize(
    ("suffixes", "kind"),
    [
        (".c .h .hpp .hxx", "cpp"),
        (".yml", "yaml"),
        (".html .xhtml", "xml"),
        (".json5", "json"),
        (".pyi", "py"),
        (".mdx", "md"),
        (".unheard", "txt"),
    ],
)
def test_a_file_is_told_by_its_suffix(split, file, suffixes, kind):
    """S6"""
    kinds = [split(file(f"a{suffix}", b"\n"))["split_type"] for suffix in suffixes.split()]
    assert {*kinds} == {kind}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hpp", "cpp"),
        (".h", "cpp"),
        ("yml", "yaml"),
        ("html", "xml"),
        ("tsx", "ts"),
        ("jsonc", "json"),
        ("txt", "txt"),
        *(
            (name, name)
            for name in ["md", "cpp", "py", "xml", "js", "ts", "json", "yaml", "go", "rs", "java"]
        ),
    ],
)
def test_a_language_by_any_of_its_names(split, file, name, kind):
    """S6"""
    path = file("a.unheard", b"\n")
    assert split(path, "--split", name)["split_type"] == kind
    assert split(path, "--language", name.upper())["split_type"] == kind


def test_an_unknown_language_is_told_with_the_known(orchestrator, file):
    """S6"""
    said = orchestrator("split", str(file("a.txt", b"a\n")), "--split", "klingon")
    assert (said.code, said.out) == (2, b"")
    assert "klingon" in said.err
    assert "python" in said.err


@pytest.mark.parametrize(
    "data",
    [
        "café\r\n".encode("latin-1") * 90,
        "日本語の文章\n".encode("euc-jp") * 90,
        "\ufeffone\r\ntwo\r\n".encode("utf-16") * 90,
        b"a\0b\n\0\0" * 90,
        b"x" * 160_000,
        b"\xef\xbb\xbfone\rtwo\r" * 90,
        b"one\x0ctwo\x0b\xc2\x85\xe2\x80\xa8three" * 90,
        b"",
    ],
    ids=["latin-1", "euc-jp", "utf-16", "nul", "one-line", "cr", "odd-breaks", "empty"],
)
def test_any_bytes_are_exact_and_within_the_target(split, file, data):
    """X13, row 33"""
    index = split(file("any.txt", data), "--target-bytes", 300)
    assert b"".join(contents(index)) == data
    assert max(map(len, contents(index))) <= 300


@pytest.mark.parametrize("module", [argparse, _pydecimal])
def test_a_real_file_takes_no_time(split, module):
    """X15: which cuts are made is a matter of the corpus test."""
    path = Path(module.__file__)
    began = sum(os.times()[:4])  # of the processor, also by the process that parses
    index = split(path)
    assert sum(os.times()[:4]) - began < 2
    assert (b"".join(contents(index)), index["split_type"]) == (path.read_bytes(), "py")
    assert [each["name"] for each in index["segments"][1:] if not each["name"]] == []


def test_nothing_is_written_beside_the_file_unless_asked(split, file, home):
    path = file("a.txt", b"a\n")
    index = split(path)
    assert [*path.parent.iterdir()] == [path]
    assert Path(index["index_path"]).is_relative_to(home / "pieces")


def test_pieces_are_for_nobody_else(split, file):
    index = split(file("secret.txt", b"a\n"))
    folder = Path(index["index_path"]).parent
    assert {os.stat(path).st_mode & 0o77 for path in (folder, *folder.iterdir())} == {0}


def test_a_source_behind_a_link_is_named_itself(split, file):
    path = file("real.txt", b"a\n")
    (path.parent / "link.txt").symlink_to("real.txt")
    assert split(path.parent / "link.txt")["source_path"] == str(path)


@pytest.mark.parametrize("words", [(), ("--refresh", "x", "--natural")])
def test_words_that_say_too_little_or_too_much(orchestrator, words):
    assert orchestrator("split", *words).code == 2


def test_a_folder_is_no_file(orchestrator, tmp_path):
    said = orchestrator("split", str(tmp_path))
    assert (said.code, said.err) == (2, f"error: {tmp_path} is no plain file: name one.\n")


def test_an_output_that_is_a_file(orchestrator, file):
    path = file("a.txt", b"a\n")
    said = orchestrator("split", str(path), "--output", str(path))
    assert (said.code, said.err) == (
        2,
        f"error: {path} is in the way of a folder: name another --output.\n",
    )


def script(file, *answers: str) -> str:
    steps = [{"text": answer} if isinstance(answer, str) else answer for answer in answers]
    return f"scripted:{file('script.json', msgspec.json.encode({'steps': steps}))}"


def summaries(index) -> list[str | None]:
    return [segment.get("summary") for segment in index["segments"]]


def test_a_model_tells_what_is_in_the_pieces(split, file):
    """Row 30: `summary`, of the pieces and of the whole."""
    path = file("p.txt", b"para-a\n\npara-b\n\npara-c\n")
    asked = [
        {"text": "One.", "expect": "| para-a"},
        {"text": "Two.", "expect": "| para-b"},
        {"text": "Three.", "expect": "| para-c"},
        {"text": "All.", "expect": "Lines 3-4: Two."},
    ]
    index = split(path, "--natural", "--summarize", "--model", script(file, *asked))
    assert (summaries(index), index["summary"]) == (["One.", "Two.", "Three."], "All.")
    written = msgspec.json.decode(Path(index["index_path"]).read_bytes())
    assert (summaries(written), written["summary"]) == (summaries(index), "All.")


def test_pieces_that_stay_keep_their_summary(orchestrator, split, file):
    path = file("p.txt", b"para-a\n\npara-b\n")
    model = script(file, "One.", "Two.", "All.")
    index = split(path, "--natural", "--summarize", "--model", model)
    Path(index["segments"][1]["path"]).write_bytes(b"edited\n")
    assert orchestrator("patch", "--index", index["index_path"]).code == 0
    written = msgspec.json.decode(Path(index["index_path"]).read_bytes())
    assert (summaries(written), "summary" in written) == (["One.", None], False)
    again = ("--summarize", "--model", script(file, "Edited.", "Both."))
    index = split("--refresh", index["index_path"], *again)
    assert (summaries(index), index["summary"]) == (["One.", "Edited."], "Both.")


def test_what_a_model_said_before_it_stopped_is_kept(orchestrator, file):
    path = file("p.txt", b"para-a\n\npara-b\n")
    model = script(file, "One.")
    said = orchestrator("split", str(path), "--natural", "--summarize", "--model", model, "--json")
    assert (said.code, summaries(said.json)) == (1, ["One.", None])


def test_what_a_model_said_before_ctrl_c_is_kept():
    class Pressed(ScriptedModel):
        """Somebody presses Ctrl-C at the second question."""

        def answer(self, system, conversation, tools, **options):
            if "para-b" in str(conversation):
                raise KeyboardInterrupt
            return super().answer(system, conversation, tools, **options)

    pieces = splitters.split(b"para-a\n\npara-b\n", natural=True)
    model = Summarizer(Pressed(Script([Step("One.")])), Limits())
    told = _told(model, "p.txt", pieces, Told())
    assert told.texts == {pieces.pieces[0].sha256: "One."}
    assert isinstance(told.stopped, KeyboardInterrupt)


def test_a_model_needs_something_to_do(orchestrator, file):
    said = orchestrator("split", str(file("a.txt", b"a")), "--model", "scripted:x")
    assert (said.code, "--summarize" in said.err) == (2, True)


def test_a_binary_file_is_not_summarized(orchestrator, file):
    path = file("a.bin", b"\0\1\2" * 99)
    said = orchestrator("split", str(path), "--summarize", "--model", script(file, "x"))
    assert (said.code, "binary" in said.err) == (2, True)


@pytest.mark.parametrize("output", ["", "/proc/nowhere", "x" * 300])
def test_an_output_that_cannot_be(orchestrator, file, output):
    path = file("a.txt", b"a\n")
    said = orchestrator("split", str(path), "--output", output)
    assert (said.code, said.out, "--output" in said.err) == (2, b"", True)
    assert [*path.parent.iterdir()] == [path]


def test_a_damaged_key_is_told(orchestrator, file, home):
    path = file("a.txt", b"a\n")
    orchestrator("split", str(path))
    (home / "pieces.key").write_bytes(b"x")
    said = orchestrator("split", str(path))
    damaged = f"error: The key {home}/pieces.key is damaged: delete it and split again.\n"
    assert (said.code, said.err) == (1, damaged)
