import hashlib
from types import SimpleNamespace

import pytest

from sandbox import Limits, open_box
from sandbox import files as module
from sandbox.channel import Chunk
from sandbox.files import FileError, Files, Kept, Listing, Match, Matches, Stat, Swap
from sandbox.inside import batch
from sandbox.stream import Exit
from sandbox.values import MOST

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
    ],
)
def test_what_cannot_be_read_is_said(files, path, reason):
    assert refusal(files.read, path) == reason


def test_a_path_with_a_nul_cannot_be_read(files):
    """In the words of the toolbox's Python: 3.13 says "character" for "byte"."""
    assert "embedded null" in refusal(files.read, "a\0b")


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
    box.run(["sh", "-c", "setsid sleep 80 >/dev/null 2>&1 &"])
    files.write(f"{folder}/x", b"a" * 60)
    monkeypatch.setattr(module, "PATIENCE", 1)
    assert "took too long" in refusal(files.grep, "(a+)+$b", folder)
    assert box.run(["pgrep", "-x", "sleep"]).exit.ok
    box.sweep()


def tree(box, folder):
    """Every name below, hidden ones too, with kind, mode and content."""
    script = "find . -printf '%P %y %m\\n' | sort; find . -type f | sort | xargs -r sha256sum"
    return box.run(["sh", "-c", script], cwd=folder).stdout


def test_several_files_are_read_at_once(box, files, folder):
    shell(box, folder, "printf one > a; : > b; chmod 750 a; chmod 604 b")
    names = [f"{folder}/{name}" for name in ("a", "none", "b", "a/below")]
    assert files.gather(names) == (Kept(b"one", 0o750), None, Kept(b"", 0o604), None)


def test_several_files_are_bounded_together(files, folder):
    for name in ("a", "b"):
        files.write(f"{folder}/{name}", b"12345")
    names = [f"{folder}/a", f"{folder}/b"]
    assert [kept.content for kept in files.gather(names, 10)] == [b"12345", b"12345"]
    assert refusal(files.gather, names, 9) == (
        "the files together have more than the 9 bytes read at once"
    )


ASTRAY = {
    "link": "link is a symbolic link; name the file it leads to",
    "linked/x": "linked is a symbolic link; name the file it leads to",
    "sub": "sub is not a regular file",
    "pipe": "pipe is not a regular file",
    ".git/config": "what belongs to git itself is not changed",
    "sub/.GIT": "what belongs to git itself is not changed",
    "../../etc/x": "only files in /workspace can be changed like this",
    "/tmp/x": "only files in /workspace can be changed like this",
}


@pytest.mark.parametrize(("path", "reason"), ASTRAY.items())
def test_what_is_not_a_plain_file_of_the_workspace_is_refused(box, files, folder, path, reason):
    shell(box, folder, "echo a > real; ln -s real link; ln -s sub linked; mkdir sub; mkfifo pipe")
    place = path if path.startswith("/") else f"{folder}/{path}"
    assert refusal(files.gather, [f"{folder}/real", place]).endswith(reason)
    before = tree(box, folder)
    swaps = [Swap(f"{folder}/real", b"a\n", b"b\n"), Swap(place, None, b"new")]
    assert refusal(files.swap, swaps).endswith("; nothing was changed")
    assert tree(box, folder) == before


def test_several_files_change_together(box, files, folder):
    shell(box, folder, "printf one > a; printf two > b; printf three > c; chmod 751 a")
    files.swap(
        [
            Swap(f"{folder}/a", b"one", b"ONE", 0o751),
            Swap(f"{folder}/b", b"two", None),
            Swap(f"{folder}/deep/er/d", None, b"four"),
            Swap(f"{folder}/e", None, b"", 0o755),
        ]
    )
    gathered = files.gather([f"{folder}/{name}" for name in ("a", "b", "c", "deep/er/d", "e")])
    assert gathered == (
        *(Kept(b"ONE", 0o751), None, Kept(b"three", 0o644)),
        *(Kept(b"four", 0o644), Kept(b"", 0o755)),
    )
    assert files.list(folder) == Listing(("a", "c", "deep/", "e"), 0)


def swaps_of_five(folder):
    return [
        Swap(f"{folder}/a", b"a\n", b"A\n"),
        Swap(f"{folder}/new/x", None, b"x\n"),
        Swap(f"{folder}/shut/b", b"b\n", b"B\n"),
        Swap(f"{folder}/c", b"c\n", None),
        Swap(f"{folder}/d", b"d\n", b"D\n"),
    ]


FIVE = "mkdir shut; for f in a shut/b c d; do basename $f > $f; done; "
WRONG = {
    "a folder that nothing can be written in": ("chmod 555 shut", "shut/b: Permission denied"),
    "a file that changed since": ("echo other > d", "d has changed since it was read"),
    "a file that went since": ("rm d", "d: No such file or directory"),
    "a file that came since": ("mkdir new; echo y > new/x", "x has come into being since"),
    "a folder that is a file by now": (": > new", "new"),
    "a file that is a link by now": ("mv d e; ln -s e d", "d is a symbolic link"),
}


@pytest.mark.parametrize(("since", "reason"), WRONG.values(), ids=WRONG)
def test_one_of_five_that_cannot_be_changed_leaves_all(box, files, folder, since, reason):
    shell(box, folder, FIVE + since)
    before = tree(box, folder)
    said = refusal(files.swap, swaps_of_five(folder))
    assert reason in said
    assert tree(box, folder) == before


def test_what_was_changed_before_the_last_failed_is_put_back(box, files, folder):
    """A file and a folder of one name: that shows only when the file gets its place."""
    shell(box, folder, FIVE)
    before = tree(box, folder)
    swaps = [
        *swaps_of_five(folder),
        Swap(f"{folder}/n", None, b""),
        Swap(f"{folder}/n/n", None, b""),
    ]
    assert refusal(files.swap, swaps).endswith(
        "n has come into being since it was looked for; nothing was changed"
    )
    assert tree(box, folder) == before


def test_a_pipe_that_came_in_the_place_of_a_file_leaves_all(box, files, folder):
    shell(box, folder, FIVE + "rm d; mkfifo d; setsid sleep 70 <>d >/dev/null 2>&1 &")
    before = tree(box, folder)
    try:
        said = refusal(files.swap, swaps_of_five(folder))
        assert said.endswith("d has changed since it was read; nothing was changed")
        assert tree(box, folder) == before
    finally:
        box.sweep()


def test_new_contents_that_do_not_arrive_whole_leave_all(box, files, folder):
    shell(box, folder, "echo a > a")
    before = tree(box, folder)
    edits = [{"path": f"{folder}/b", "old": None, "size": 5, "mode": None}]
    said = refusal(files._ask, {"do": "change", "edits": edits}, b"four")
    assert said == "the new contents did not arrive whole; nothing was changed"
    assert tree(box, folder) == before


def test_a_change_that_takes_too_long_leaves_all(engine, image, monkeypatch):
    with open_box(engine, image, Limits(cpus=0.2), run="test", purpose="work") as slow:
        shell(slow, "/workspace", "mkdir late; cd late; echo a > a; truncate -s 1000M big")
        before = slow.run(["ls", "-A"], cwd="/workspace/late").stdout
        swaps = [Swap("late/a", b"a\n", b"b\n"), Swap("late/big", b"", b"x")]
        with monkeypatch.context() as hasty:
            hasty.setattr(module, "PATIENCE", 1)
            assert refusal(slow.files.swap, swaps) == "this took too long; nothing was changed"
        assert slow.run(["ls", "-A"], cwd="/workspace/late").stdout == before
        assert slow.files.read("late/a") == b"a\n"


def test_what_cannot_be_put_back_is_named(tmp_path):
    done = []
    undo = [
        ("/workspace/a", lambda: done.append("a")),
        ("/workspace/b", (tmp_path / "gone").rmdir),
        ("/workspace/c", lambda: done.append("c")),
    ]
    assert batch.taken_back(undo) == (
        "these could not be put back: b (No such file or directory); all others are as they were"
    )
    assert done == ["c", "a"]


def test_of_what_cannot_be_put_back_the_old_content_stays(tmp_path):
    """Somebody made a folder where the file was, while it was gone."""
    place = tmp_path / "a"
    place.write_bytes(b"precious\n")
    old = hashlib.sha256(b"precious\n").hexdigest()
    step = SimpleNamespace(path="a", place=str(place), kept=f"{place}.old", old=old, size=None)
    undo = []
    batch.keep(step, undo)
    batch.swap(step, undo)
    place.mkdir()
    assert "could not be put back" in batch.taken_back(undo)
    assert (tmp_path / "a.old").read_bytes() == b"precious\n"


def test_a_full_disk_leaves_all(engine, image):
    limits = Limits(workspace="memory", memory=256 << 20)
    with open_box(engine, image, limits, run="test", purpose="work") as small:
        folder = "/workspace/full"
        small.run(["mkdir", folder])
        shell(small, folder, FIVE + "head -c 1G /dev/zero > fill || truncate -s -1M fill")
        before = tree(small, folder)
        swaps = swaps_of_five(folder)
        swaps[2] = Swap(f"{folder}/shut/b", b"b\n", bytes(4 << 20))
        assert refusal(small.files.swap, swaps) == (
            "full/shut/b: No space left on device; nothing was changed"
        )
        assert tree(small, folder) == before


class Forged:
    """A channel into a sandbox where somebody else writes the answers."""

    def __init__(self, answer):
        self.answer = answer

    def call(self, program, *arguments, **options):
        yield Chunk("stdout", self.answer)
        yield Exit(0, 0.0)


CROWD = b'{"names":[%s""]}\n' % (b'"",' * MOST)
ANSWERS = [
    CROWD,
    b"",
    b"no\n",
    b"[]\n",
    b"[" * 100_000,
    b'{"names":[1],"more":0}\n',
    b'{"names":"a"}',
]


@pytest.mark.parametrize("answer", ANSWERS, ids=len)
def test_a_forged_answer_is_an_error_like_another(answer):
    assert refusal(Files(Forged(answer)).list) == module.DISTURBED


@pytest.mark.parametrize("facts", ["[]", "[[420,9]]", "[[420,-1]]", "[[1,0],null]", "[[420,2]]"])
def test_forged_contents_are_an_error_like_another(facts):
    answer = b'{"files":%s}\nabc' % facts.encode()
    assert refusal(Files(Forged(answer)).gather, ["a"]) == module.DISTURBED


def test_a_forged_match_or_fact_is_an_error_like_another():
    files = Files(Forged(b'{"matches":[["a"]],"more":1,"kind":"x","size":""}\n'))
    assert refusal(files.grep, "a") == refusal(files.stat, "a") == module.DISTURBED
