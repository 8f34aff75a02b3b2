"""The history that a sandbox is given: whole, and as what an ancestor lacks."""

import os
import random
from pathlib import Path

import pytest

from orchestrator.history import history
from orchestrator.repository import Repository
from sandbox.source import Known, end_of
from tests.exchange import commit, git, start


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A straight line of ten commits."""
    user = start(tmp_path / "user", {"a.txt": b"0\n"})
    for number in range(1, 10):
        commit(user, {"a.txt": b"%d\n" % number, f"f{number}": b"x"})
    return user


class Inside:
    """A sandbox's object store, filled as one is."""

    def __init__(self, where: Path, user: Path, depth: int | None) -> None:
        self.where, self.user, self.depth = where, user, depth
        self.known: Known | None = None
        start(where, {})

    def take(self, base: str) -> bool:
        """Take in a base; whether its pack was a whole one."""
        repository = Repository.open(str(self.user), self.where)
        at = repository.resolve(base)
        given = history(repository, at, repository.pack(at, self.where / "packs"), self.depth)
        with given.objects(self.known) as objects:
            if objects.whole:
                for old in (self.where / ".git/objects/pack").glob("*"):
                    old.unlink()
            (self.where / ".git/shallow").write_text("".join(f"{c}\n" for c in given.shallow))
            git(
                self.where,
                *("index-pack", "--stdin", "--fix-thin"),
                stdin=objects.pack.read_bytes(),
            )
        self.known = Known(at.commit, end_of(given.shallow))
        git(self.where, "rev-list", "--objects", "--quiet", at.commit)  # nothing is missing
        git(self.where, "update-ref", "refs/heads/main", at.commit)
        return objects.whole

    def log(self) -> list[str]:
        return git(self.where, "log", "--format=%H", "main").decode().split()


@pytest.fixture
def inside(tmp_path, user):
    return lambda depth: Inside(tmp_path / "inside", user, depth)


def ids(user: Path, *which: str) -> list[str]:
    return git(user, "rev-list", *which).decode().split()


@pytest.mark.parametrize(("depth", "seen"), [(1, 1), (4, 4), (10, 10), (50, 10), (None, 10)])
def test_a_sandbox_sees_so_many_generations(user, inside, depth, seen):
    store = inside(depth)
    assert store.take("HEAD")
    assert store.log() == ids(user, "HEAD")[:seen]


def test_of_an_ancestor_only_what_is_new_is_packed(user, inside, tmp_path):
    store = inside(4)
    store.take("HEAD~2")
    assert not store.take("HEAD")
    assert store.log() == ids(user, "HEAD")[:4]


def test_files_that_an_ancestor_had_are_not_packed_however_old_it_is(user, inside):
    commit(user, {"large": random.Random(0).randbytes(100_000)})
    store = inside(2)
    store.take("HEAD")
    for number in range(5):
        commit(user, {"a.txt": b"later %d\n" % number})
    assert not store.take("HEAD")
    packs = sorted((store.where / ".git/objects/pack").glob("*.pack"), key=os.path.getsize)
    assert [os.path.getsize(pack) > 100_000 for pack in packs] == [False, True]


def test_what_a_merge_shows_of_old_commits_is_not_missing(user, inside):
    store = inside(3)
    store.take("HEAD")
    old = [word for number in (0, 2, 4, 6, 8) for word in ("-p", f"HEAD~{number}")]
    merge = git(user, "commit-tree", "HEAD^{tree}", *old, "-m", "all").decode().strip()
    git(user, "reset", "-q", "--hard", merge)
    store.take("HEAD")
    assert store.log() == ids(user, "HEAD")


def test_a_file_from_before_the_history_that_is_back_is_not_missing(user, inside):
    git(user, "repack", "-qadb")
    store = inside(2)
    store.take("HEAD")
    commit(user, {"a.txt": b"0\n"})
    assert not store.take("HEAD")
    assert git(store.where, "cat-file", "-p", "main:a.txt") == b"0\n"


def test_of_another_branch_nothing_is_built_upon(user, inside):
    git(user, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(user, {"side": b"x"})
    store = inside(None)
    store.take("side")
    assert store.take("main")


def test_without_history_nothing_is_built_upon(user, inside):
    store = inside(1)
    store.take("HEAD~1")
    assert store.take("HEAD")


def test_a_repository_that_got_deeper_is_packed_anew(user, inside, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{user}", "clone")
    store = inside(None)
    store.user = tmp_path / "clone"
    assert (store.take("HEAD"), len(store.log())) == (True, 1)
    git(tmp_path / "clone", "fetch", "-q", "--unshallow")
    commit(tmp_path / "clone", {"more": b""})
    assert (store.take("HEAD"), len(store.log())) == (True, 11)


def test_a_shallow_repository_gives_what_it_has(user, inside, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=3", f"file://{user}", "clone")
    store = inside(50)
    store.user = tmp_path / "clone"
    store.take("HEAD~1")
    assert not store.take("HEAD")
    assert store.log() == ids(user, "HEAD")[:3]


def test_a_partial_clone_gives_its_base_alone(user, inside, tmp_path):
    git(user, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{user}", "clone")
    store = inside(50)
    store.user = tmp_path / "clone"
    store.take("HEAD")
    assert store.log() == ids(user, "HEAD")[:1]


def tangle(user: Path, seed: int) -> list[str]:
    """Commits with merges and side branches of all lengths; files come, go and come back."""
    chance = random.Random(seed)
    made = [git(user, "rev-parse", "HEAD").decode().strip()]
    for number in range(40):
        parents = chance.sample(made[-12:], min(len(made), chance.choice([1, 1, 2])))
        files = "".join(
            f"100644 blob {_blob(user, chance.randrange(8))}\tf{name}\n"
            for name in range(chance.randrange(1, 5))
        )
        tree = git(user, "mktree", stdin=files.encode()).decode().strip()
        above = [word for parent in parents for word in ("-p", parent)]
        made.append(git(user, "commit-tree", tree, *above, "-m", str(number)).decode().strip())
        git(user, "branch", f"b{number}", made[-1])
    return made


def _blob(user: Path, number: int) -> str:
    return git(user, "hash-object", "-w", "--stdin", stdin=b"%d\n" % number).decode().strip()


@pytest.mark.parametrize("depth", [2, 3, 6, None])
def test_in_any_history_all_is_there_that_a_clone_of_this_depth_has(tmp_path, user, inside, depth):
    chance = random.Random(depth)
    made = tangle(user, 7)
    store = inside(depth)
    for turn in range(20):
        number = chance.randrange(40)
        store.take(made[number + 1])
        if depth is None:
            wanted = ids(user, f"b{number}")
        else:
            clone = ("clone", "-q", "--bare", f"--depth={depth}", f"--branch=b{number}")
            git(tmp_path, *clone, f"file://{user}", f"clone{turn}")
            wanted = ids(tmp_path / f"clone{turn}", f"b{number}")
        assert set(store.log()) == set(wanted)
