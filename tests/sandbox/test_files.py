import pytest

from sandbox import files as module
from sandbox.channel import Chunk
from sandbox.files import FileError, Files, Listing, Match, Matches, Stat
from sandbox.stream import Exit

PLACES = "only files in /workspace, /tmp and /home/agent can be changed"


@pytest.fixture(scope="module")
def files(box):
    return box.files


@pytest.fixture
def folder(box, request):
    """An empty folder of the test's own, deleted afterwards."""
    path = f"/workspace/{request.node.originalname}"
    box.run(["mkdir", path])
    yield path
    box.run(["sh", "-c", 'chmod -R u+w "$1"; rm -rf "$1"', "sh", path])


def shell(box, folder, script):
    assert box.run(["sh", "-c", script], cwd=folder).exit.ok


def refusal(operation, *arguments, **options) -> str:
    with pytest.raises(FileError) as caught:
        operation(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff\0\r\n", b"x" * 3_000_000], ids=len)
def test_what_is_written_is_read(files, folder, content):
    files.write(f"{folder}/a/b", content)
    assert files.read(f"{folder}/a/b") == content


def test_relative_paths_start_at_the_workspace(files):
    assert files.read("README.md") == files.read("/workspace/README.md") == b"# Tiny\n"


def test_names_that_are_no_utf8_survive(box, files, folder):
    name = "\udcff\n'\"\t-ü"
    files.write(f"{folder}/{name}", b"odd")
    assert files.list(folder) == Listing((name,), 0)
    assert files.read(f"{folder}/{name}") == b"odd"
    files.delete(f"{folder}/{name}")
    assert files.list(folder) == Listing((), 0)


def test_a_file_beyond_the_limit_tells_its_size(files):
    assert refusal(files.read, "README.md", 3) == (
        "README.md has 7 bytes, more than the 3 that are read at once"
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing", "missing: No such file or directory"),
        ("src", "src is a folder"),
        ("/dev/zero", "/dev/zero is not a regular file"),
        ("/etc/shadow", "/etc/shadow: Permission denied"),
        ("a\0b", "embedded null byte"),
    ],
)
def test_what_cannot_be_read_is_said(files, path, reason):
    assert refusal(files.read, path) == reason


def test_a_pipe_does_not_hold_the_reader(box, files, folder):
    shell(box, folder, "mkfifo pipe")
    assert refusal(files.read, f"{folder}/pipe") == f"{folder}/pipe is not a regular file"


def test_writing_keeps_the_mode_and_leaves_nothing_beside(box, files, folder):
    shell(box, folder, "echo old > tool; chmod 751 tool")
    files.write(f"{folder}/tool", b"new")
    assert files.stat(f"{folder}/tool") == Stat("file", 3, 0o751, "")
    assert files.list(folder) == Listing(("tool",), 0)


def test_a_write_that_fails_keeps_the_old_content(box, files, folder):
    shell(box, folder, "echo old > kept; chmod 555 .")
    assert "Permission denied" in refusal(files.write, f"{folder}/kept", b"new")
    assert files.read(f"{folder}/kept") == b"old\n"


def test_a_link_to_a_file_is_written_through(box, files, folder):
    shell(box, folder, "echo old > real; ln -s real link")
    files.write(f"{folder}/link", b"new")
    assert files.read(f"{folder}/real") == b"new"
    assert files.stat(f"{folder}/link").target == "real"


@pytest.mark.parametrize("path", ["/etc/x", "../x", "/workspace/../etc/x", "/opt/orchestrator/x"])
def test_other_places_cannot_be_written(files, path):
    assert refusal(files.write, path, b"") == f"{path}: {PLACES}"


@pytest.mark.parametrize("path", ["file", "folder/x"])
def test_links_to_other_places_cannot_be_written(box, files, folder, path):
    shell(box, folder, "ln -s /var/tmp/x file; ln -s /var/tmp folder")
    assert refusal(files.write, f"{folder}/{path}", b"") == f"{folder}/{path}: {PLACES}"


def test_deleting_a_link_keeps_its_target(box, files, folder):
    shell(box, folder, "echo kept > real; ln -s real link")
    files.delete(f"{folder}/link")
    assert files.list(folder) == Listing(("real",), 0)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("src", "src is a folder; remove it with a command"),
        ("missing", "missing: No such file or directory"),
        ("/etc/passwd", f"/etc/passwd: {PLACES}"),
        ("/workspace", f"/workspace: {PLACES}"),
    ],
)
def test_what_cannot_be_deleted_is_said(files, path, reason):
    assert refusal(files.delete, path) == reason


def test_a_move_makes_folders_and_crosses_file_systems(files, folder):
    files.write(f"{folder}/a", b"content")
    files.move(f"{folder}/a", "/tmp/moved/a")
    files.move("/tmp/moved/a", f"{folder}/b/c")
    assert files.glob("**", folder).names == (f"{folder}/b/c".removeprefix("/workspace/"),)


def test_a_move_never_overwrites(files, folder):
    files.write(f"{folder}/a", b"a")
    files.write(f"{folder}/b", b"b")
    assert "exists already" in refusal(files.move, f"{folder}/a", f"{folder}/b")
    assert files.read(f"{folder}/b") == b"b"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("missing", "x", "missing: No such file or directory"),
        ("/etc/passwd", "x", f"/etc/passwd: {PLACES}"),
        ("README.md", "/etc/x", f"/etc/x: {PLACES}"),
        ("/workspace", "/tmp/x", f"/workspace: {PLACES}"),
    ],
)
def test_what_cannot_be_moved_is_said(files, old, new, reason):
    assert refusal(files.move, old, new) == reason


def test_a_listing_marks_folders_and_shows_hidden_names(files):
    assert files.list() == Listing((".git/", ".gitignore", "README.md", "src/"), 0)


def test_a_long_listing_is_cut_and_says_so(box, files, folder):
    shell(box, folder, "touch $(seq -w 203)")
    listing = files.list(folder)
    assert (len(listing.names), listing.more) == (200, 3)
    assert listing.text.endswith("\n200\n[3 more]")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", ("a.c", "a.py")),
        ("**", ("a.c", "a.py", "sub/.hidden", "sub/b.py", "sub/deep/c.py")),
        ("**/*.py", ("a.py", "sub/b.py", "sub/deep/c.py")),
        ("sub/*.py", ("sub/b.py",)),
        ("sub/**/*.py", ("sub/b.py", "sub/deep/c.py")),
        ("**/deep/*", ("sub/deep/c.py",)),
        ("a.{c,py}", ("a.c", "a.py")),
        ("[!a].*", ()),
        ("missing/*", ()),
    ],
)
def test_glob(box, files, folder, pattern, names):
    script = "mkdir -p sub/deep .git; touch a.c a.py sub/.hidden sub/b.py sub/deep/c.py .git/x.py"
    shell(box, folder, script)
    place = folder.removeprefix("/workspace/")
    assert files.glob(pattern, folder).names == tuple(f"{place}/{name}" for name in names)


def test_glob_takes_absolute_patterns(files):
    assert files.glob("/workspace/src/*.py") == Listing(("src/app.py",), 0)
    assert files.glob("/etc/pass[w]d") == Listing(("/etc/passwd",), 0)


def test_glob_does_not_follow_links_to_folders(box, files, folder):
    shell(box, folder, "ln -s . loop; ln -s /etc etc")
    assert files.glob("**", folder).names == tuple(
        f"{folder}/{name}".removeprefix("/workspace/") for name in ("etc", "loop")
    )


def test_find_looks_at_names_in_all_folders(files):
    assert files.find("*.py") == Listing(("src/app.py",), 0)


def test_grep_gives_path_number_and_line(files):
    assert files.grep(r"a \+ b$") == Matches((Match("src/app.py", 2, "    return a + b"),), False)


@pytest.mark.parametrize("pattern", ["--pre=cat", "-f/etc/passwd", "-e", "$(id)"])
def test_a_pattern_is_never_an_option(files, folder, pattern):
    files.write(f"{folder}/x", f"{pattern}\n".encode())
    expected = Match(f"{folder}/x".removeprefix("/workspace/"), 1, pattern)
    regular = pattern.replace("$", r"\$").replace("(", r"\(").replace(")", r"\)")
    assert files.grep(regular, folder).matches == (expected,)


def test_a_broken_pattern_is_said(files):
    assert refusal(files.grep, "(") == (
        "not a regular expression of Python: missing ), unterminated subpattern at position 0"
    )


def test_grep_leaves_out_git_binaries_links_and_devices(box, files, folder):
    script = "mkdir .git; echo x > .git/x; printf 'x\\0' > binary; ln -s /etc/passwd x; mkfifo pipe"
    shell(box, folder, script)
    assert files.grep("x|root", folder) == Matches((), False)


@pytest.mark.parametrize(("glob", "found"), [("*.py", 2), ("sub/*.py", 1), ("*.{c,h}", 1)])
def test_grep_is_narrowed_by_a_glob(box, files, folder, glob, found):
    shell(box, folder, "mkdir sub; for f in a.py sub/a.py a.c; do echo x > $f; done")
    assert len(files.grep("x", folder, glob).matches) == found


def test_grep_stops_at_its_limit_and_says_so(box, files, folder):
    shell(box, folder, "seq 9 > numbers")
    found = files.grep("", f"{folder}/numbers", limit=2)
    assert ([match.line for match in found.matches], found.more) == (["1", "2"], True)
    assert found.text.endswith(":2:2\n[more matches exist]")


def test_grep_shows_lines_as_people_see_them(files, folder):
    files.write(f"{folder}/x", b"\xff\xe2\x80\xa8 end\r\nlast " + 600 * b"y")
    lines = [match.line for match in files.grep("end$|^last", folder).matches]
    assert lines == ["\ufffd\u2028 end", "last " + 495 * "y"]


def test_a_search_without_end_is_ended_alone(box, files, folder, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 1)
    box.run(["sh", "-c", "setsid sleep 80 >/dev/null 2>&1 &"])
    files.write(f"{folder}/x", b"a" * 60)
    assert "took too long" in refusal(files.grep, "(a+)+$b", folder)
    assert box.run(["pgrep", "-x", "sleep"]).exit.ok
    box.sweep()


class Forged:
    """A channel into a sandbox where somebody else writes the answers."""

    def __init__(self, answer):
        self.answer = answer

    def call(self, program, *arguments, **options):
        yield Chunk("stdout", self.answer)
        yield Exit(0, 0.0)


ANSWERS = [b"", b"no\n", b"[]\n", b"[" * 100_000, b'{"names":[1],"more":0}\n', b'{"names":"a"}']


@pytest.mark.parametrize("answer", ANSWERS, ids=len)
def test_a_forged_answer_is_an_error_like_another(answer):
    assert refusal(Files(Forged(answer)).list) == module.DISTURBED


def test_a_forged_match_or_fact_is_an_error_like_another():
    files = Files(Forged(b'{"matches":[["a"]],"more":1,"kind":"x","size":""}\n'))
    assert refusal(files.grep, "a") == refusal(files.stat, "a") == module.DISTURBED
