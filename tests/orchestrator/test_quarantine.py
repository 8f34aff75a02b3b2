from pathlib import Path

import pytest

from orchestrator.errors import QuarantineError
from orchestrator.outcome import Verdict
from orchestrator.patch import Entry
from orchestrator.quarantine import HARD_PATHS, Change, Note, Quarantine
from tests.exchange import NOTE, Exchange, Inside, git


def message(exchange: Exchange, commit: str) -> str:
    return git(exchange.quarantine.git.directory, "log", "-1", "--format=%B", commit).decode()


def test_it_starts_at_the_base_without_history(exchange: Exchange):
    quarantine = exchange.quarantine
    assert (quarantine.base, quarantine.tip) == (exchange.base.commit, exchange.base.commit)
    assert quarantine.log(quarantine.base, quarantine.tip) == ()
    assert quarantine.tree(quarantine.base) == exchange.base.tree


def test_a_base_with_history_comes_without_it(exchange: Exchange, tmp_path: Path):
    change = exchange.admit({b"a.txt": ("100644", b"x")})
    listed = git(exchange.quarantine.git.directory, "rev-list", change.commit).decode().split()
    assert listed == [change.commit, exchange.base.commit]


def test_a_changed_file_becomes_a_commit(exchange: Exchange):
    change = exchange.admit({b"a.txt": ("100644", b"one\n2\n3\n")})
    assert change == Change(change.commit, change.tree, 1, files=1, added=2, removed=1)
    assert exchange.quarantine.tip == change.commit


def test_the_commit_says_who_did_what(exchange: Exchange):
    change = exchange.admit({b"a.txt": ("100644", b"x")})
    assert message(exchange, change.commit) == (
        "edit_file a.txt\n\nRun: r1\nStep: 1\nTool: edit_file\nWorker: agent\nModel: x:y\n\n"
    )


def test_nothing_breaks_out_of_its_line(exchange: Exchange):
    note = Note("a\n\nRun: forged\x1b[2J\u202e\0", "r1", 2, "bash\nStep: 9", "agent")
    subject, trailers = note.message().split("\n\n")
    assert subject == "a Run: forged [2J"
    assert trailers == "Run: r1\nStep: 2\nTool: bash Step: 9\nWorker: agent\n"


def test_steps_follow_each_other(exchange: Exchange):
    first = exchange.admit({b"a.txt": ("100644", b"1")})
    second = exchange.admit({b"a.txt": ("100644", b"2")}, first.commit)
    quarantine = exchange.quarantine
    assert quarantine.log(quarantine.base, quarantine.tip) == (first.commit, second.commit)


def test_going_back_is_a_change_too(exchange: Exchange):
    first = exchange.admit({b"a.txt": ("100644", b"1")})
    back = exchange.admit_tree(exchange.base.tree, first.commit)
    assert (back.tree, back.files) == (exchange.base.tree, 1)


def test_a_finding_is_recorded_and_its_contents_are_not_read(exchange: Exchange):
    change = exchange.admit({b"l": ("120000", b"/etc/passwd"), b"a.txt": None})
    assert [(f.rule, f.verdict, f.path) for f in change.findings] == [
        ("tree.symlink-escape", Verdict.BLOCK, "l")
    ]
    assert (change.files, change.added, change.removed) == (2, 0, 0)
    assert exchange.quarantine.tip == change.commit


def test_a_name_is_compared_with_all_its_neighbours(exchange: Exchange):
    change = exchange.admit({b"SRC/c.py": ("100644", b"x")})
    assert [(f.rule, f.path) for f in change.findings] == [("tree.case-collision", "SRC/c.py")]


def test_submodules_of_the_base_stay(tmp_path: Path, exchange: Exchange):
    git(exchange.user, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "./", "sub")
    git(exchange.user, "commit", "-qm", "sub")
    base = exchange.repository.resolve("HEAD")
    pack = exchange.repository.pack(base, tmp_path / "packs")
    quarantine = Quarantine.create(tmp_path / "q2.git", pack, base)
    with_sub = Exchange(exchange.user, exchange.repository, base, quarantine, exchange.inside)
    git(exchange.inside.path, "index-pack", "--stdin", stdin=pack.read_bytes())
    change = with_sub.admit({b"a.txt": ("100644", b"x")})
    assert (change.files, change.findings) == (1, ())


def test_blobs_can_be_asked_for(exchange: Exchange):
    change = exchange.admit({b"a.txt": ("100644", b"x" * 17_000_000)})
    difference = exchange.quarantine.difference(exchange.base.commit, change.commit)
    (entry,) = difference.entries
    assert difference.blobs.size(entry.new_blob) == 17_000_000
    assert len(difference.blobs.read(entry.new_blob)) == 16 << 20
    assert exchange.quarantine.blobs.read(entry.old_blob) == b"one\ntwo\n"


def entry(mode: str, name: str, child: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(child)


@pytest.mark.parametrize(
    "case", ["blob", "finding", "link", "folder", "in a folder", "kind", "itself", "no tree"]
)
def test_a_tree_of_which_something_is_missing_is_refused(exchange: Exchange, case: str):
    """Whatever let it in: the tree is put into the quarantine beside an honest pack."""
    put, away = Inside(exchange.quarantine.git.directory).put, "1" * 40
    blob = put("blob", b"here")
    inner = put("tree", entry("100644", "b", away))
    trees = {
        "blob": entry("100644", "a", away),
        "finding": entry("100644", "-a", away),  # after one no content is read
        "link": entry("120000", "a", away),
        "folder": entry("40000", "a", away),
        "in a folder": entry("40000", "a", inner),
        "kind": entry("100644", "a", put("tree", entry("100644", "b", blob))),
    }
    tree = put("tree", trees[case]) if case in trees else {"itself": away, "no tree": blob}[case]
    pack = exchange.inside.pack(exchange.changed({b"a.txt": ("100644", b"x")}))
    with pytest.raises(QuarantineError):
        exchange.quarantine.admit(tree, pack, parent=exchange.base.commit, note=NOTE)
    assert exchange.quarantine.tip == exchange.base.commit


def test_so_many_changed_files_as_are_looked_at_can_all_be_asked_for(exchange: Exchange):
    """Each with an old and a new blob, of which none is here: real ones would take minutes."""
    missing = [
        Entry("M", "100644", "100644", f"{n:040x}", f"{n + HARD_PATHS:040x}", b"%d" % n)
        for n in range(1, HARD_PATHS + 1)
    ]
    with pytest.raises(QuarantineError, match="did not come"):
        exchange.quarantine._stored(missing)


def test_it_can_be_opened_again(exchange: Exchange):
    change = exchange.admit({b"a.txt": ("100644", b"x")})
    again = Quarantine.open(exchange.quarantine.git.directory)
    assert (again.base, again.tip) == (exchange.base.commit, change.commit)


def test_a_missing_one_is_told(tmp_path: Path):
    with pytest.raises(QuarantineError, match="is missing: the changes of this run are gone"):
        Quarantine.open(tmp_path / "none.git")


def test_a_half_made_one_is_made_again(exchange: Exchange, tmp_path: Path):
    (tmp_path / "q2.git.new").mkdir()
    pack = exchange.repository.pack(exchange.base, tmp_path / "packs")
    made = Quarantine.create(tmp_path / "q2.git", pack, exchange.base)
    assert made.tip == exchange.base.commit
    assert not (tmp_path / "q2.git.new").exists()


def test_two_steps_cannot_follow_the_same_one(exchange: Exchange):
    first = exchange.admit({b"a.txt": ("100644", b"1")})
    with pytest.raises(QuarantineError, match="Step 1 was refused"):
        exchange.admit({b"a.txt": ("100644", b"2")})
    assert exchange.quarantine.tip == first.commit


def test_many_steps_share_one_index(exchange: Exchange):
    parent = exchange.base.commit
    for number in range(32):
        parent = exchange.admit({b"a.txt": ("100644", b"%d" % number)}, parent).commit
    assert (exchange.quarantine.git.directory / "objects/pack/multi-pack-index").exists()
    assert len(exchange.quarantine.log(exchange.base.commit, parent)) == 32


def test_a_chain_can_become_one_commit(exchange: Exchange):
    first = exchange.admit({b"a.txt": ("100644", b"secret")})
    second = exchange.admit({b"a.txt": ("100644", b"clean")}, first.commit)
    squashed = exchange.quarantine.squash(second.commit, NOTE)
    assert exchange.quarantine.log(exchange.base.commit, squashed) == (squashed,)
    assert exchange.quarantine.tree(squashed) == second.tree
