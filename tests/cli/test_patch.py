"""Edited pieces come back into their file: facts P1 to P6, and X1 to X14 on the way."""

import os
import subprocess
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from tests.cli.conftest import git
from tests.unprivileged import unprivileged


class Split:
    """A file in a repository, its pieces in a folder beside, and the program."""

    def __init__(self, orchestrator, path: Path, data: bytes, *options: str) -> None:
        self.orchestrator, self.path = orchestrator, path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.options = options
        self.index = orchestrator("split", str(path), *options, "--json").json

    @property
    def folder(self) -> Path:
        return Path(self.index["index_path"]).parent

    def piece(self, number: int) -> Path:
        return Path(self.index["segments"][number - 1]["path"])

    def edit(self, number: int, old: bytes, new: bytes) -> None:
        path = self.piece(number)
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new))

    def patch(self, *options: str):
        return self.orchestrator("patch", "--index", self.index["index_path"], *options)

    def written(self):
        return msgspec.json.decode(Path(self.index["index_path"]).read_bytes())

    def all(self) -> dict[str, bytes | str]:
        """All there is around the file and its pieces."""
        found = [path for top in (self.path.parent, self.folder) for path in top.rglob("*")]
        return {
            str(path): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in found
            if ".git" not in path.parts and not path.is_dir()
        }


@pytest.fixture
def split(orchestrator, repository):
    def build(data: bytes, *options: str, name: str = "deep/folder/notes.txt") -> Split:
        return Split(orchestrator, repository / name, data, *options)

    return build


ALPHA = b"alpha\n" * 400 + b"\n" + b"beta\n"
PARAGRAPHS = b"para-a\n\npara-b\n\npara-c\n"


def applies(repository: Path, patch: str, *options: str) -> None:
    """`git apply` takes it, at the top of the repository."""
    done = subprocess.run(
        ["git", "-C", str(repository), "apply", *options, patch], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_segment_is_edited(split):
    """P1"""
    made = split(ALPHA, "--target-bytes", "512")
    made.edit(1, b"alpha", b"ALPHA!")
    said = made.patch("--json")
    data = made.path.read_bytes()
    count = made.index["segments"][0]["end_line_num"]
    assert data == b"ALPHA!\n" * count + ALPHA[count * 6 :]
    assert said.json | {"changed": True, "applied": True, "conflicts": []} == said.json
    assert Path(said.json["patch_path"]).suffix == ".patch"
    written = made.written()
    assert written["source_sha256"] == said.json["source_sha256"] == sha256(data).hexdigest()
    assert written["source_size_bytes"] == len(data)
    parts = [Path(segment["path"]).read_bytes() for segment in written["segments"]]
    assert (b"".join(parts), len(parts)) == (data, written["segment_count"])


def test_only_what_was_edited_is_in_the_patch(split):
    """P2"""
    made = split(b"alpha\n" * 10 + b"beta\n" * 10)
    made.edit(1, b"beta", b"BETA")
    lines = Path(made.patch("--json").json["patch_path"]).read_text().splitlines()
    assert "-beta" in lines
    assert "+BETA" in lines
    assert "-alpha" not in lines


def test_a_source_that_was_changed_is_left_alone(split):
    """P3, row 39"""
    made = split(PARAGRAPHS, "--natural")
    made.edit(1, b"para-a", b"edited")
    made.path.write_bytes(b"another\n")
    before = made.all()
    said = made.patch()
    assert (said.code, said.out) == (1, b"")
    assert sha256(PARAGRAPHS).hexdigest() in said.err
    assert sha256(b"another\n").hexdigest() in said.err
    assert made.all() == before


def test_a_dry_run_writes_nothing(split, repository, home):
    """P4"""
    made = split(PARAGRAPHS, "--natural")
    made.edit(2, b"para-b", b"edited")
    before, state = made.all(), sorted(home.rglob("*"))
    said = made.patch("--dry-run")
    assert (said.code, made.all(), sorted(home.rglob("*"))) == (0, before, state)
    (repository / "said.patch").write_bytes(said.out)
    applies(repository, "said.patch", "--check")
    shown = made.patch("--dry-run", "--json").json
    assert (shown["patch_path"], shown["patch"]) == (None, said.text)


def test_nothing_edited_is_nothing_changed(split):
    """P5"""
    made = split(PARAGRAPHS, "--natural")
    before = made.all()
    said = made.patch("--json")
    assert (said.code, said.json["changed"], said.json["patch_path"]) == (0, False, None)
    assert made.all() == before


def test_force_keeps_both_changes(split):
    """P6, X10, row 40"""
    made = split(b"1\n2\n3\n4\n5\n\n6\n7\n8\n9\n", "--natural")
    made.edit(2, b"8\n", b"eight\n")
    theirs = b"1\ntwo\n3\n4\n5\n\n6\n7\n8\n9\n"
    made.path.write_bytes(theirs)
    said = made.patch("--force", "--json")
    assert said.code == 0
    assert made.path.read_bytes() == b"1\ntwo\n3\n4\n5\n\n6\n7\neight\n9\n"
    assert Path(said.json["backup_path"]).read_bytes() == theirs


def test_force_says_where_the_file_is_as_it_was(split):
    made = split(b"1\n2\n3\n4\n5\n\n6\n7\n8\n9\n", "--natural")
    made.edit(2, b"8\n", b"eight\n")
    made.path.write_bytes(b"1\ntwo\n3\n4\n5\n\n6\n7\n8\n9\n")
    text = made.patch("--force").text
    (backup,) = made.folder.glob("index.backup-*")
    assert text.endswith(f"; the file as it was is {backup}\n")


def test_a_patch_that_is_not_applied_is_told_as_asked_for(split):
    made = split(PARAGRAPHS, "--natural")
    made.edit(2, b"para-b", b"edited")
    patch = made.folder / "index.patch"
    assert made.patch("--no-apply").text == f"The patch is {patch}; {made.path} stays as it is\n"
    assert (made.path.read_bytes(), patch.exists()) == (PARAGRAPHS, True)


def test_force_without_an_edit_cuts_the_source_anew(split):
    made = split(PARAGRAPHS, "--natural")
    made.path.write_bytes(b"another\n")
    said = made.patch("--force", "--json")
    assert (said.code, said.json["changed"], made.path.read_bytes()) == (0, False, b"another\n")
    assert [made.piece(1).read_bytes(), made.piece(2).exists()] == [b"another\n", False]


def test_force_into_the_same_place_is_a_conflict(split):
    """P6, X10, row 40: exit 1, the place is named, all is as it was."""
    made = split(b"1\n2\n3\n4\n5\n", "--natural")
    made.edit(1, b"4\n", b"four\n")
    made.path.write_bytes(b"0\n1\n2\n3\nvier\n5\n")
    before = made.all()
    said = made.patch("--force", "--json")
    assert (said.code, said.json["changed"]) == (1, False)
    assert said.json["conflicts"] == [{"first_line": 5, "last_line": 5}]
    assert "(line 5)" in said.err
    marked = Path(said.json["conflict_path"]).read_bytes()
    assert b"vier\n" in marked
    assert b"four\n" in marked
    assert {name: each for name, each in made.all().items() if name in before} == before


def test_force_on_what_git_merges_not_is_a_conflict(split):
    made = split(b"a\0b\n")
    made.edit(1, b"b", b"c")
    made.path.write_bytes(b"z\0b\n")
    said = made.patch("--force")
    assert (said.code, made.path.read_bytes()) == (1, b"z\0b\n")


@pytest.mark.parametrize("newline", [b"\r\n", b"\r"], ids=["CRLF", "CR"])
def test_other_line_endings_stay(split, repository, newline):
    """X1"""
    lines = [b"line %d" % number for number in range(300)]
    made = split(newline.join(lines) + newline, "--target-bytes", "400")
    made.edit(2, lines[60], b"edited")
    said = made.patch("--json")
    lines[60] = b"edited"
    assert made.path.read_bytes() == newline.join(lines) + newline
    applies(repository, said.json["patch_path"], "--check", "--reverse")


@pytest.mark.parametrize("newline", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_a_tool_that_knows_only_lf_does_no_harm(split, newline):
    """X1: an editor gave the whole piece back with other line ends."""
    made = split(f"one{newline}two{newline}".encode())
    made.piece(1).write_bytes(b"one\n2\n")
    assert made.patch().code == 0
    assert made.path.read_bytes() == f"one{newline}2{newline}".encode()


def test_a_last_line_without_newline(split, repository):
    """X2"""
    made = split(b"one\ntwo\nthree")
    git("-C", str(repository), "add", "-A")
    made.edit(1, b"three", b"3")
    said = made.patch("--json", "--no-apply")
    assert b"\\ No newline at end of file" in Path(said.json["patch_path"]).read_bytes()
    applies(repository, said.json["patch_path"])
    assert made.path.read_bytes() == b"one\ntwo\n3"


@pytest.mark.parametrize("name", ["top.txt", "deep/er/notes.txt", 'with space/ä".txt', "a\tb.txt"])
def test_the_patch_is_for_the_top_of_the_repository(split, repository, name):
    """X3"""
    made = split(PARAGRAPHS, name=name)
    made.edit(1, b"para-b", b"edited")
    said = made.patch("--no-apply", "--json")
    patch = said.json["patch_path"]
    if name.isprintable() and '"' not in name and name.isascii():
        assert f"--- a/{name}" in Path(patch).read_text()
        assert f"+++ b/{name}" in Path(patch).read_text()
    applies(repository, patch, "--check")
    applies(repository, patch)
    assert made.path.read_bytes() == PARAGRAPHS.replace(b"para-b", b"edited")


@pytest.mark.parametrize(
    "setting", [("core.autocrlf", "true"), ("core.autocrlf", "input"), ("core.eol", "crlf")]
)
def test_the_patch_applies_whatever_git_does_with_line_ends(split, repository, setting):
    """X3: with CRLF in the work tree."""
    git("-C", str(repository), "config", *setting)
    made = split(b"one\r\ntwo\r\nthree\r\n")
    git("-C", str(repository), "add", "-A")
    git("-C", str(repository), "commit", "-qm", "notes")
    made.edit(1, b"two", b"2")
    applies(repository, made.patch("--no-apply", "--json").json["patch_path"])
    assert made.path.read_bytes() == b"one\r\n2\r\nthree\r\n"


@pytest.mark.parametrize(
    "odd", [b"\x0c", b"\x0b", "\x85".encode(), "\u2028".encode(), b"\0", b"\xff", b"\r"]
)
def test_odd_characters_break_no_line(split, repository, odd):
    """X4"""
    made = split(b"one\nt" + odd + b"wo\nthree\n")
    made.edit(1, b"wo", b"WO")
    applies(repository, made.patch("--no-apply", "--json").json["patch_path"])
    assert made.path.read_bytes() == b"one\nt" + odd + b"WO\nthree\n"


def test_a_segment_that_lost_its_newline_joins_no_lines(split):
    """X5"""
    made = split(PARAGRAPHS, "--natural")
    made.piece(1).write_bytes(b"edited")
    said = made.patch("--json")
    assert made.path.read_bytes() == b"edited\npara-b\n\npara-c\n"
    assert said.json["restored"] == [1]
    assert "piece 1" in said.err


def drop_last(index) -> None:
    index["segments"].pop()


def drop_last_thoroughly(index) -> None:
    index["segments"].pop()
    index["segment_count"] -= 1
    index["source_size_bytes"] = index["segments"][-1]["end_byte"]


def redirect_segment(to: str):
    def change(index) -> None:
        index["segments"][0]["path"] = to

    return change


def set_key(name: str, value):
    def change(index) -> None:
        index[name] = value

    return change


def drop_key(name: str):
    def change(index) -> None:
        del index[name]

    return change


DAMAGES = {
    "X6 last segment": drop_last,
    "X6 last segment, with all counts": drop_last_thoroughly,
    "X7 relative source": set_key("source_path", "victim"),
    "X7 segment": redirect_segment("/etc/passwd"),
    "X7 segment above": redirect_segment("../victim"),
    "X7 segment beside": redirect_segment("index.base"),
    "X7 empty hash": set_key("source_sha256", ""),
    "X7 no hash": drop_key("source_sha256"),
    "X7 hash of nothing": set_key("source_sha256", sha256(b"").hexdigest()),
    "X7 null": set_key("source_path", None),
    "a schema of later": set_key("schema", 2),
    "a key of later": set_key("extra", 1),
    "a count that is true": set_key("segment_count", True),
    "a size below zero": set_key("source_size_bytes", -1),
    "segments that are none": set_key("segments", {}),
}


def redirect_source(index) -> None:
    path = Path(index["source_path"])
    index["source_path"] = str(path.parents[2] / "victim" / path.name)


UNSEALED = {
    "X7 no seal": drop_key("seal"),
    "X7 odd seal": set_key("seal", "é"),
    "X7 source": redirect_source,
}
"""What only the seal tells: with --source a person says that it is right."""


@pytest.mark.parametrize("damage", [*DAMAGES, *UNSEALED])
def test_an_index_that_was_changed_is_refused(split, repository, damage):
    """X6, X7: whoever changed it; nothing is written."""
    assert_refused(split(PARAGRAPHS, "--natural"), repository, damage)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_word_for_the_source_is_none_for_the_segments(split, repository, damage):
    """X6, X7: with --source the index is checked all the same."""
    made = split(PARAGRAPHS, "--natural")
    assert_refused(made, repository, damage, "--source", str(made.path))


def assert_refused(made: Split, repository: Path, damage: str, *options: str) -> None:
    victim = repository / "victim" / made.path.name
    victim.parent.mkdir()
    victim.write_bytes(PARAGRAPHS)
    made.edit(1, b"para-a", b"edited")
    index = made.written()
    (DAMAGES | UNSEALED)[damage](index)
    Path(made.index["index_path"]).write_bytes(msgspec.json.encode(index))
    before = made.all()
    said = made.patch("--force", *options)
    assert (said.code, said.out) == (1, b"")
    assert (made.all(), victim.read_bytes()) == (before, PARAGRAPHS)


def test_an_index_of_a_stranger_is_followed_to_a_named_file_only(split, repository):
    """X7: a cloned repository brings an index along."""
    made = split(PARAGRAPHS, "--natural", "--output", "pieces")
    made.edit(1, b"para-a", b"edited")
    stolen = repository / "stolen"
    made.folder.rename(stolen)
    moved = stolen / "index.json"
    content = moved.read_bytes().replace(str(made.folder).encode(), str(stolen).encode())
    moved.write_bytes(content)
    refused = made.orchestrator("patch", "--index", str(moved))
    assert (refused.code, "--source" in refused.err) == (1, True)
    assert made.path.read_bytes() == PARAGRAPHS
    refreshed = made.orchestrator("split", "--refresh", str(moved))
    assert (refreshed.code, "name the file it is for behind the index." in refreshed.err) == (
        1,
        True,
    )
    taken = made.orchestrator("patch", "--index", str(moved), "--source", str(made.path))
    assert (taken.code, made.path.read_bytes()) == (0, PARAGRAPHS.replace(b"para-a", b"edited"))
    assert made.orchestrator("patch", "--index", str(moved)).code == 0


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "gone"])
def test_a_segment_that_is_no_plain_file_is_refused(split, tmp_path, kind):
    """X7"""
    made = split(PARAGRAPHS, "--natural")
    (tmp_path / "secret").write_bytes(b"secret\n")
    made.edit(2, b"para-b", b"edited")
    made.piece(1).unlink()
    if kind == "link":
        made.piece(1).symlink_to(tmp_path / "secret")
    elif kind == "folder":
        made.piece(1).mkdir()
    elif kind == "pipe":
        os.mkfifo(made.piece(1))
    said = made.patch()
    assert (said.code, made.path.read_bytes()) == (1, PARAGRAPHS)
    assert made.piece(1).name in said.err


def test_a_source_that_became_a_link_is_not_followed(split, repository):
    """X7"""
    made = split(b"")
    (repository / "victim").write_bytes(b"")
    made.piece(1).write_bytes(b"planted\n")
    made.path.unlink()
    made.path.symlink_to(repository / "victim")
    said = made.patch()
    assert (said.code, (repository / "victim").read_bytes()) == (1, b"")


def test_without_applying_the_index_fits_the_source(split):
    """X9"""
    made = split(PARAGRAPHS, "--natural")
    made.edit(1, b"para-a", b"edited")
    said = made.patch("--no-apply", "--json")
    assert said.json | {"changed": True, "applied": False} == said.json
    assert made.path.read_bytes() == PARAGRAPHS
    hashes = {said.json["source_sha256"], made.written()["source_sha256"]}
    assert hashes == {sha256(PARAGRAPHS).hexdigest()}
    assert made.patch("--json").json["applied"]


def test_an_empty_file(split):
    """X12"""
    made = split(b"")
    said = made.patch("--json")
    assert (said.code, said.json["changed"], made.path.read_bytes()) == (0, False, b"")
    made.piece(1).write_bytes(b"filled\n")
    assert (made.patch().code, made.path.read_bytes()) == (0, b"filled\n")


@pytest.mark.parametrize(
    ("encoding", "within"),
    [
        ("latin-1", "latin-1"),
        ("euc-jp", "euc-jp"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_an_encoding_stays(split, encoding, within):
    """X13, X14: with its byte order mark"""
    letter = "語" if encoding == "euc-jp" else "é"
    text = "".join(f"line {number} {letter}\n" for number in range(90))
    made = split(text.encode(encoding), "--target-bytes", "300")
    made.edit(1, "line 3 ".encode(within), "LINE 3 ".encode(within))
    assert made.patch().code == 0
    assert made.path.read_bytes() == text.replace("line 3 ", "LINE 3 ").encode(encoding)


def test_a_byte_order_mark_that_an_editor_dropped_comes_back(split):
    """X14"""
    made = split(b"\xef\xbb\xbfone\ntwo\n")
    made.piece(1).write_bytes(b"1\ntwo\n")
    assert (made.patch().code, made.path.read_bytes()) == (0, b"\xef\xbb\xbf1\ntwo\n")


def test_a_line_of_160_kb(split):
    """X13"""
    made = split(b'{"a": "' + b"x" * 160_000 + b'"}', name="one.json")
    number = next(n for n in range(1, 9) if made.piece(n).read_bytes().startswith(b"x"))
    made.edit(number, b"xx", b"yz")
    parts = [made.piece(n).read_bytes() for n in range(1, made.index["segment_count"] + 1)]
    assert made.patch().code == 0
    assert made.path.read_bytes() == b"".join(parts)


def test_a_newline_that_an_editor_adds_inside_a_line_is_taken_off(split):
    """X13"""
    made = split(b"x" * 1000, "--target-bytes", "400")
    made.piece(1).write_bytes(b"y" * 400 + b"\n")
    assert (made.patch().code, made.path.read_bytes()) == (0, b"y" * 400 + b"x" * 600)


def test_mode_and_link_are_kept(split, repository):
    """X14"""
    made = split(PARAGRAPHS, "--natural")
    made.path.chmod(0o751)
    link = repository / "link.txt"
    link.symlink_to("deep/folder/notes.txt")
    linked = made.orchestrator("split", str(link), "--natural", "--output", "out", "--json").json
    Path(linked["segments"][0]["path"]).write_bytes(b"edited\n\n")
    said = made.orchestrator("patch", "--index", linked["index_path"], "--json")
    assert (said.code, os.readlink(link)) == (0, "deep/folder/notes.txt")
    assert made.path.read_bytes() == b"edited\n\npara-b\n\npara-c\n"
    assert made.path.stat().st_mode & 0o7777 == 0o751
    assert b"100755" in Path(said.json["patch_path"]).read_bytes()


def test_nothing_of_ours_stays_beside_the_source(split):
    made = split(PARAGRAPHS, "--natural")
    made.edit(1, b"para-a", b"edited")
    assert made.patch().code == 0
    assert [*made.path.parent.iterdir()] == [made.path]


def test_a_renamed_source_is_named(split):
    made = split(PARAGRAPHS, "--natural")
    made.edit(1, b"para-a", b"edited")
    renamed = made.path.with_name("other.md")
    made.path.rename(renamed)
    gone = made.patch()
    assert (gone.code, gone.err) == (
        1,
        f"error: Source file not found: {made.path}; if it was renamed, name it with --source.\n",
    )
    anew = made.orchestrator("split", "--refresh", made.index["index_path"], str(renamed))
    assert (anew.code, "edited and not merged" in anew.err) == (1, True)
    said = made.patch("--source", str(renamed))
    assert (said.code, renamed.read_bytes()) == (0, PARAGRAPHS.replace(b"para-a", b"edited"))
    names = {path.name for path in made.folder.iterdir()}
    assert "other-0001.md" in names
    assert "notes-0001.txt" not in names
    assert made.patch().code == 0


def test_outside_of_any_repository_the_patch_names_the_file(orchestrator, home, tmp_path):
    made = Split(orchestrator, tmp_path / "plain" / "notes.txt", PARAGRAPHS)
    made.edit(1, b"para-b", b"edited")
    said = made.patch("--json")
    assert b"--- a/notes.txt\n" in Path(said.json["patch_path"]).read_bytes()


@pytest.mark.parametrize("where", ["nowhere/index.json", "check.py"])
def test_an_index_that_is_none(orchestrator, repository, where):
    said = orchestrator("patch", "--index", where)
    assert (said.code, said.out) == (1 if "nowhere" in where else 2, b"")


def test_an_index_that_cannot_be_read(orchestrator, repository, monkeypatch):
    (repository / "shut").mkdir(mode=0)
    monkeypatch.chdir(repository)
    with unprivileged():
        said = orchestrator("patch", "--index", "shut/index.json")
    assert (said.code, said.err) == (
        2,
        "error: shut/index.json cannot be read: Permission denied.\n",
    )


@pytest.mark.parametrize("name", ["index.json", "index.base", "a-0001.txt", ""])
def test_a_part_of_the_pieces_that_cannot_be_read(orchestrator, monkeypatch, home, name):
    with TemporaryDirectory() as top:  # whose parents let everybody through
        os.chmod(top, 0o777)
        monkeypatch.setenv("ORCHESTRATOR_HOME", f"{top}/home")
        made = Split(orchestrator, Path(top, "work", "a.txt"), b"a\n")
        for path in Path(top).rglob("*"):
            path.chmod(0o777)
        part = made.folder / name
        part.chmod(0)
        with unprivileged():
            said = made.patch() if name else orchestrator("patch", "--index", str(part))
        part.chmod(0o700)
        assert (said.code, said.err) == (2, f"error: {part} cannot be read: Permission denied.\n")


def plant(made: Split, was: bytes) -> None:
    """What a command that was stopped leaves behind: new files, and what was there before."""
    prepared = made.folder / ".pieces-next"
    prepared.mkdir()
    for name in ("index.json", made.piece(1).name):
        (prepared / name).write_bytes((made.folder / name).read_bytes())
    (prepared / "was.json").write_bytes(was)


@pytest.mark.parametrize("was", [b"", b"{", b"[]", b'"\xff'])
def test_damaged_notes_of_a_stopped_command_are_refused(split, was):
    made = split(PARAGRAPHS, "--natural")
    plant(made, was)
    said = made.patch()
    assert (said.code, made.path.read_bytes()) == (1, PARAGRAPHS)
    assert "was.json in .pieces-next is damaged" in said.err


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_stands_in_the_way_of_a_piece_is_kept(split, kind):
    """It is put aside unread: a pipe would hold us up for ever."""
    made = split(PARAGRAPHS, "--natural")
    plant(made, b"{}")
    made.piece(1).unlink()
    {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to("/etc/passwd")}[
        kind
    ](made.piece(1))
    assert (made.patch().code, made.piece(1).read_bytes()) == (0, b"para-a\n\n")
    assert [path.is_symlink() for path in made.folder.glob("kept-*")] == [kind == "link"]


def test_an_index_that_is_a_pipe_holds_nobody_up(split):
    made = split(PARAGRAPHS, "--natural")
    plant(made, b"{}")
    Path(made.index["index_path"]).unlink()
    os.mkfifo(made.index["index_path"])
    assert made.patch().code == 0
    assert made.written()["segment_count"] == 3


@pytest.mark.parametrize("name", [".pieces-next", ".pieces-new"])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_stands_in_the_way_of_our_folders_goes(split, tmp_path, name, kind):
    made = split(PARAGRAPHS, "--natural")
    if kind == "file":
        (made.folder / name).write_bytes(b"")
    else:
        (made.folder / name).symlink_to(tmp_path)
    made.edit(1, b"para-a", b"edited")
    assert (made.patch().code, made.written()["segment_count"]) == (0, 3)
    assert made.path.read_bytes() == PARAGRAPHS.replace(b"para-a", b"edited")


@pytest.mark.parametrize("name", ["index.patch", ".index.patch.new"])
def test_a_folder_in_the_place_of_the_patch_is_told(split, name):
    made = split(PARAGRAPHS, "--natural")
    made.edit(1, b"para-a", b"edited")
    (made.folder / name).mkdir()
    said = made.patch()
    assert (said.code, made.path.read_bytes()) == (1, PARAGRAPHS)
    assert said.err == f"error: {made.folder / name} is in the way of a file: move it.\n"


def test_a_conflict_that_was_settled_in_the_file_is_left_behind(split):
    """After it the pieces are of the file again, and nothing is to be merged."""
    made = split(b"1\n2\n3\n", "--natural")
    made.edit(1, b"2\n", b"two\n")
    made.path.write_bytes(b"1\nzwei\n3\n")
    said = made.patch("--force")
    assert (said.code, "--discard" in said.err) == (1, True)
    assert made.patch("--discard", "--json").json["discarded"] == [1]
    assert made.patch("--discard").text.startswith("No piece was edited; ")
    assert (made.piece(1).read_bytes(), made.path.read_bytes()) == (b"1\nzwei\n3\n",) * 2
    assert made.patch().out == b"Nothing to change.\n"


@pytest.mark.parametrize(
    ("edited", "named"), [((2,), "Piece 2 was edited"), ((1, 2), "Pieces 1, 2 were edited")]
)
def test_edited_pieces_are_named_by_their_numbers(split, orchestrator, edited, named):
    made = split(PARAGRAPHS, "--natural")
    for number in edited:
        made.edit(number, b"para", b"edited")
    again = orchestrator("split", "--refresh", made.index["index_path"])
    assert (again.code, named in again.err) == (1, True)
    assert made.patch("--discard").text.startswith(f"{named}, and that is dropped; ")


@pytest.mark.parametrize("other", ["--force", "--dry-run", "--no-apply"])
def test_to_discard_and_to_merge_do_not_go_together(split, other):
    made = split(b"1\n2\n")
    made.edit(1, b"2\n", b"two\n")
    assert made.patch("--discard", other).code == 2
    assert made.piece(1).read_bytes() == b"1\ntwo\n"
