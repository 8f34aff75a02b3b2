import json

import pytest

from sandbox import snapshot
from sandbox.box import open_box
from sandbox.channel import Chunk
from sandbox.errors import CrossingError, DiskFullError, KilledError
from sandbox.limits import Limits
from sandbox.snapshot import HEADER_CAP, Snapshot, parse, rehash, reset, take
from sandbox.stream import Exit


def test_untouched_files_give_the_base_tree_and_no_pack(record):
    assert record() == Snapshot(record.base.tree, None)


def test_what_changed_is_in_the_record(record):
    record("echo new >new; echo more >>README; rm src/old.py")
    expected = record.original | {"new": b"new\n", "README": b"a small repository\nmore\n"}
    del expected["src/old.py"]
    assert record.files() == expected


def test_each_pack_holds_only_what_the_previous_tree_lacks(record):
    first = record("dd if=/dev/urandom of=big bs=1M count=2 status=none")
    large = first.pack.stat().st_size
    second = record("echo x >small")
    assert (large > 2_000_000, second.pack.stat().st_size < 1000) == (True, True)


@pytest.mark.parametrize(
    "script",
    [
        "cp -r large copy",
        "mv large moved; echo x >>README",
        "mv large/a t; mv large/b large/a; mv t large/b",
        "echo more >>large/a",
        "mv large/* .",
        "rm large/a; echo x >large/new",
    ],
)
def test_what_the_previous_tree_has_at_another_path_is_not_packed_again(record, script):
    record("mkdir large; cd large; for f in a b; do head -c 2000000 /dev/urandom >$f; done")
    before = record.files()
    taken = record(script)
    assert taken.pack.stat().st_size < 2000
    assert set(record.files().values()) >= {before["large/b"]}
    assert rehash(record.box.channel) == record.tree


def test_modes_and_symlinks_are_recorded(record):
    record("chmod +x README; ln -s README link")
    assert (record.modes()["README"], record.modes()["link"]) == ("100755", "120000")
    assert record.files()["link"] == b"README"


def test_blobs_are_the_bytes_of_the_files(record):
    record(
        "echo '* text eol=crlf ident working-tree-encoding=UTF-16 filter=lfs' >.gitattributes;"
        r"printf 'a\r\nb\n$Id$\n\377' >raw"
    )
    assert record.files()["raw"] == b"a\r\nb\n$Id$\n\xff"


def test_odd_names_are_recorded_as_they_are(record):
    record(r"""for name in 'new
line' 'tab	"quote' '-dash' ' space '; do echo x >"./$name"; done; touch "$(printf '\377')" """)
    odd = set(record.files()) - set(record.original)
    assert odd == {"new\nline", 'tab\t"quote', "-dash", " space ", "\udcff"}


def test_ignored_files_are_named_and_not_recorded(record):
    taken = record("echo x >a.log; mkdir -p src/build; echo x >src/build/x; echo y >y")
    assert (taken.ignored, set(record.files())) == (
        ("a.log", "src/build/"),
        {*record.original, "y"},
    )


def test_only_the_trees_own_rules_ignore(record):
    record(
        "echo new >>.git/info/exclude; mkdir -p ~/.config/git; echo new >~/.config/git/ignore;"
        "git config core.excludesFile ~/.config/git/ignore; echo x >new"
    )
    assert record.files()["new"] == b"x\n"


def test_a_tracked_file_is_never_hidden_by_a_rule(record):
    record("echo 'src/' >>.gitignore; echo changed >src/lib.py")
    assert record.files()["src/lib.py"] == b"changed\n"


def test_a_tracked_file_that_comes_back_is_recorded_though_ignored(record):
    record("rm -r build")
    assert "build/keep" not in record.files()
    record("mkdir build; echo again >build/keep")
    assert record.files()["build/keep"] == b"again\n"


def test_a_new_file_leaves_the_record_when_a_rule_comes_to_ignore_it(record):
    record("echo x >note.txt")
    taken = record("echo note.txt >>.gitignore")
    assert (taken.ignored, set(record.files())) == (("note.txt",), set(record.original))


def test_what_setup_left_is_not_recorded_but_files_beside_it_are(record):
    taken = record("echo changed >egg/PKG; echo mine >egg/new")
    assert (taken.ignored, record.files().get("egg/PKG")) == ((), None)
    assert record.files()["egg/new"] == b"mine\n"


def test_a_submodule_of_the_base_stays_when_its_folder_goes(record):
    taken = record("rmdir vendor/sub; echo x >x")
    assert (taken.left_out, record.modes()["vendor/sub"]) == ((), "160000")


@pytest.mark.parametrize("script", ["echo x >vendor/sub/x", "rmdir vendor/sub; echo x >vendor/sub"])
def test_what_lies_in_a_submodule_is_named_and_left_out(record, script):
    taken = record(script)
    assert (taken.left_out, taken.pack) == (("vendor/sub",), None)


@pytest.mark.parametrize(
    "commit", ["true", "git -C inner -c user.name=a -c user.email=a commit -q --allow-empty -m x"]
)
def test_a_nested_repository_is_named_and_the_rest_recorded(record, commit):
    taken = record(f"git init -q inner; echo x >inner/x; {commit}; echo honest >honest")
    assert (taken.left_out, set(record.files())) == (("inner/",), {*record.original, "honest"})


def test_a_repository_started_in_a_recorded_folder_takes_it_out_of_the_record(record):
    record("mkdir inner; echo x >inner/x")
    taken = record("git init -q inner")
    assert (taken.left_out, set(record.files())) == (("inner/",), set(record.original))


def test_a_repository_started_in_a_folder_of_the_base_leaves_its_files_in_the_record(record):
    taken = record("git init -q src; echo x >src/new.py")
    assert (taken.left_out, set(record.files())) == (
        ("src/.git",),
        {*record.original, "src/new.py"},
    )


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("mkfifo pipe", "pipe"),
        ("echo x >closed; chmod 0 closed", "closed"),
        ("mkdir closed; echo x >closed/x; chmod 0 closed", "closed/"),
        ("mkdir closed; echo x >closed/x; chmod 644 closed", "closed/"),
        ("rm README; mkfifo README", "README"),
        ("mkdir .GIT; echo x >.GIT/x", ".GIT/x"),
        ("echo x >'git~1'", "git~1"),
    ],
)
def test_what_no_tree_can_hold_is_named_and_the_rest_recorded(record, script, named):
    taken = record(f"{script}; echo honest >honest")
    assert (taken.left_out, record.files()["honest"]) == ((named,), b"honest\n")


def test_a_socket_is_named(record):
    listen = "import socket; socket.socket(socket.AF_UNIX).bind('door')"
    assert record(f'python3 -c "{listen}"').left_out == ("door",)


def test_a_workspace_its_owner_closed_is_opened_again(record):
    record("echo x >x; chmod 0 /workspace")
    assert record.files()["x"] == b"x\n"


def test_long_lists_are_counted_and_cut(record):
    taken = record("for i in $(seq 1200); do echo >$i.log; done")
    assert (len(taken.ignored), taken.ignored_total) == (1000, 1200)


def test_two_files_of_one_size_and_time_that_change_places_are_noticed(record):
    record("mv src/lib.py t; mv src/old.py src/lib.py; mv t src/old.py")
    assert record.files()["src/lib.py"] == record.original["src/old.py"]


REPLACED = [
    "rm README; mkdir README; echo x >README/x",
    "rm -r src; echo x >src",
    "rm -r src; ln -s egg src",
    "mv src code; ln -s code src",
    "echo a >a; mkdir b; echo c >b/c",
    "echo '*' >.gitignore; echo x >x",
    "rm .gitignore; echo x >x.log",
    "rm -rf .git; echo x >x",
    "chmod 0 src; echo x >x",
    "git init -q src/inner; echo x >src/inner/x; mkfifo pipe",
    "rm -r egg; echo x >egg",
]


@pytest.mark.parametrize("script", REPLACED)
def test_a_fresh_index_confirms_the_record(record, script):
    record("echo first >first; mkdir -p deep/er; echo x >deep/er/x")
    record(script)
    assert rehash(record.box.channel) == record.tree


OWN = "/var/lib/orchestrator/snapshot"
DAMAGE = [
    f"rm -rf {OWN}/objects/*",
    f"rm -rf {OWN}/*",
    f"echo junk >{OWN}/index",
    f"touch {OWN}/index.lock",
    f"rm {OWN}/index; mkfifo {OWN}/index",
    f"rm {OWN}/index; mkdir -p {OWN}/index/a; chmod 0 {OWN}/index",
    f"chmod 0 {OWN}/objects {OWN}",
    f"mkfifo {OWN}/none {OWN}/lock",
    f"echo junk >{OWN}/config; echo junk >{OWN}/HEAD",
    "git init -q /tmp/x; export GIT_DIR=/tmp/x/.git; git add many; git update-index --split-index;"
    f"cp /tmp/x/.git/index {OWN}/index",
]


@pytest.mark.parametrize("script", DAMAGE)
def test_a_damaged_cache_changes_nothing(record, script):
    record("echo first >first")
    record(f"{script}; echo second >second")
    expected = record.original | {"first": b"first\n", "second": b"second\n"}
    assert (record.files(), rehash(record.box.channel)) == (expected, record.tree)


def test_a_record_writes_a_small_part_of_the_index_and_the_large_one_is_root_s(record):
    record("echo more >>README")
    names = f"{OWN}/index /var/lib/orchestrator/git/sharedindex.*"
    facts = record.box.run(["sh", "-c", f"stat -c '%U %a %s' {names}"]).stdout.decode()
    own, shared = (line.split() for line in facts.splitlines())
    assert (own[0], shared[:2]) == ("agent", ["root", "644"])
    assert int(own[2]) < int(shared[2]) / 2


def test_where_most_files_change_the_index_is_one_again(record):
    record("for file in many/*; do echo more >>$file; done")
    record("echo more >>README")
    expected = {name: b"one of many\nmore\n" for name in record.original if "many" in name}
    expected["README"] = record.original["README"] + b"more\n"
    assert record.files() == record.original | expected


def git_was_asked(record) -> bool:
    """Whether a snapshot of unchanged files looks at git's index, and so makes a new one."""
    record(f"rm {OWN}/index")
    return record.box.run(["test", "-e", f"{OWN}/index"]).exit.ok


def test_files_that_did_not_change_are_not_looked_at_by_git(record):
    assert record() == record()
    assert not git_was_asked(record)


def test_after_a_change_git_looks_until_the_files_are_at_rest(record):
    # Slow as the machine may be, one of many changes is followed by its snapshot at once.
    assert any(record("echo x >x") and git_was_asked(record) for _ in range(30))
    record("sleep 0.2")
    assert not git_was_asked(record)


@pytest.mark.parametrize(
    "script",
    [
        "cp -p README old; echo A SMALL REPOSITORY >README; touch -r old README; rm old",
        "mv src/lib.py t; mv src/old.py src/lib.py; mv t src/old.py",
        "chmod +x README",
        "rm src/old.py",
        "ln -sf app.py src/lib.py",
        "mkdir new; echo x >new/x",
    ],
)
def test_after_files_at_rest_every_change_is_noticed(record, script):
    record()
    assert record(script).tree != record.base.tree
    assert rehash(record.box.channel) == record.tree


def test_what_was_left_out_and_ignored_is_told_again(record):
    record("mkfifo pipe; echo x >a.log; sleep 0.2")
    first = record("sleep 0.2")
    assert (record(), first.left_out, first.ignored) == (first, ("pipe",), ("a.log",))


def test_a_pack_over_the_cap_is_refused_before_it_is_stored(record):
    with pytest.raises(CrossingError, match=r"more than the limit of 100,000"):
        record("dd if=/dev/urandom of=big bs=1M count=1 status=none", cap=100_000)
    assert not (record.store / "pack").exists()


def test_files_that_cannot_be_read_in_time_are_an_error(record):
    with pytest.raises(CrossingError, match="within 2 seconds"):
        record("mkfifo .gitignore.new; mv .gitignore.new .gitignore", seconds=2)


@pytest.fixture
def proof(engine, prepared):
    with open_box(engine, prepared.image, Limits(), run="test", purpose="proof") as proof:
        yield proof


def test_a_fresh_box_becomes_exactly_the_recorded_tree(record, proof):
    taken = record("echo x >x; rm src/old.py; rm README; mkdir README; echo r >README/r")
    reset(proof.channel, taken.pack, taken.tree)
    passed = ["-path", "./.git", "-prune", "-o", "-path", "./many", "-prune", "-o"]
    listed = proof.run(["find", ".", *passed, "-type", "f", "-print"])
    assert sorted(listed.stdout.decode().split()) == [
        *("./.gitignore", "./README/r", "./build/keep", "./build/out/o", "./egg/PKG"),
        *("./src/app.py", "./src/lib.py", "./x"),
    ]


def test_a_box_goes_back_to_the_base_and_loses_what_was_made(record):
    record("echo x >x; echo y >>README")
    record.box.run(["sh", "-c", "echo unrecorded >z"])
    reset(record.box.channel, None, record.base.tree)
    assert (record().tree, record().pack) == (record.base.tree, None)


WELL = Exit(0, 0.1)


class Told:
    """A channel into a sandbox that says what the test wants it to say."""

    def __init__(self, *items: bytes, complaint: bytes = b"", end: Exit = WELL) -> None:
        self._items = [Chunk("stderr", complaint), *(Chunk("stdout", data) for data in items)]
        self._end = end

    def call(self, program, *arguments, **options):
        yield from self._items
        yield self._end


def header(**facts) -> bytes:
    room = {"room": [[1 << 40, 1 << 20], [1 << 40, 1 << 20]]}
    return json.dumps({"tree": "a" * 40} | room | facts).encode() + b"\n"


@pytest.mark.parametrize(
    "items",
    [
        (b"",),
        (b"x" * (HEADER_CAP + 1),),
        (header(pack=4) + b"PAC",),
        (header(pack=4), b"PACK", b"more"),
        (header(pack=0),),
        (header(tree="b" * 40, pack=4) + b"PACK",),
        (b"[]\n",),
        (b'{"tree": "' + b"A" * 40 + b'"}\n',),
    ],
)
def test_an_answer_of_another_form_is_refused_and_nothing_kept(tmp_path, items):
    with pytest.raises(CrossingError):
        take(Told(*items), "b" * 40, tmp_path / "pack")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [b"No space left on device", b"Disk quota exceeded"])
def test_a_full_disk_in_the_sandbox_is_named(tmp_path, words):
    full = Told(complaint=b"git: " + words, end=Exit(1, 0.1))
    with pytest.raises(DiskFullError, match="disk is full"):
        take(full, "b" * 40, tmp_path / "pack")


@pytest.mark.parametrize(
    ("workspace", "told"),
    [
        ("disk", "raise `disk` under [sandbox] (it is 20g), or"),
        ("memory", "raise `memory` or `disk` under [sandbox] (they are 4g and 20g), or"),
    ],
)
def test_a_box_tells_the_size_that_was_full_and_is_ended(make_box, tmp_path, workspace, told):
    box = make_box(Limits(workspace=workspace))
    box.channel = Told(complaint=b"git: No space left on device", end=Exit(1, 0.1))
    with pytest.raises(DiskFullError) as full:
        box.snapshot("b" * 40, tmp_path / "pack")
    assert told in str(full.value)
    assert box.lost().limit == "disk"


@pytest.mark.parametrize("kept", [0, 50], ids=["git", "all of ours"])
def test_a_recording_without_enough_memory_names_the_limit(
    make_box, source, tmp_path, kept, monkeypatch
):
    monkeypatch.setattr(snapshot, "SECONDS", 240.0)  # what it holds is read again and again
    box = make_box(Limits(memory=64 << 20, tmp_size=60 << 20))
    box.run(["sh", "-c", f"head -c 40M /dev/urandom >big; head -c {kept}M /dev/zero >/tmp/x"])
    with pytest.raises(CrossingError, match=r"raise `memory` under \[sandbox\] \(it is 64m\)"):
        box.snapshot(source.tree, tmp_path / "pack")


def test_a_recording_that_somebody_ends_is_told_as_it_ended(make_box, tmp_path):
    box = make_box()
    box.channel = Told(complaint=b"git write-tree: status -9", end=Exit(137, 0.1))
    with pytest.raises(KilledError, match="cannot be recorded: git write-tree: status -9"):
        box.snapshot("b" * 40, tmp_path / "pack")


def test_a_failure_is_told_in_the_sandboxs_words(tmp_path):
    with pytest.raises(CrossingError, match="cannot be recorded: git status: fatal"):
        take(Told(complaint=b"git status: fatal", end=Exit(1, 0.1)), "b" * 40, tmp_path / "pack")


def test_an_answer_may_come_in_any_pieces(tmp_path):
    whole = header(pack=4, left_out=["a\n"]) + b"PACK"
    pieces = [bytes([byte]) for byte in whole]
    taken = take(Told(*pieces), "b" * 40, tmp_path / "pack")
    assert (taken.left_out, taken.pack.read_bytes()) == (("a\n",), b"PACK")


@pytest.mark.parametrize(
    "facts",
    [
        {"tree": 1},
        {"tree": "a" * 41},
        {"tree": "a" * 40 + "\n"},
        {"pack": -1},
        {"pack": True},
        {"pack": 1.5},
        {"ignored": [1]},
        {"left_out": 7},
        {"left_out_total": "1"},
        {"room": None},
        {"room": [[1, 1]]},
        {"room": [[1, 1], [1]]},
        {"room": [[1, 1], [1, -1]]},
        {"room": [[1, 1], [True, 1]]},
        {"room": ["ab", [1, 1]]},
    ],
)
def test_a_header_with_a_wrong_value_is_refused(facts):
    with pytest.raises(CrossingError, match="malformed"):
        parse(header(**facts))


def test_a_deeply_nested_header_is_refused():
    with pytest.raises(CrossingError, match="malformed"):
        parse(b"[" * 100_000)
