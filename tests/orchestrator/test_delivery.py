from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import delivery
from orchestrator.delivery import discard, merge, publish
from orchestrator.errors import ConflictError, GitError, UsageError
from orchestrator.events import Delivered, Merged
from orchestrator.quarantine import Change
from orchestrator.repository import Repository
from tests.exchange import NOTE, Exchange, commit, fingerprint, git

BRANCH = "agent/r1"


@pytest.fixture
def change(exchange: Exchange) -> Change:
    return exchange.admit({b"a.txt": ("100644", b"one\n2\n"), b"new": ("100755", b"x")})


@pytest.fixture
def published(exchange: Exchange, change: Change) -> Change:
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    return change


def state(exchange: Exchange, *written: str) -> dict[str, object]:
    """Everything in the user's repository but new packs and the branches named."""
    known = ("objects/pack", *written)
    return {
        name: value
        for name, value in fingerprint(exchange.user).items()
        if not any(part in name for part in known)
    }


def answer(exchange: Exchange, *args: str) -> str:
    return git(exchange.user, *args).decode().strip()


# Publishing


def test_the_branch_holds_every_change(exchange: Exchange, change: Change):
    last = exchange.admit({b"new": None}, change.commit)
    done = publish(exchange.repository, exchange.quarantine, "r1", last.commit)
    assert done == Delivered(branch=BRANCH, commit=last.commit)
    log = answer(exchange, "log", "--format=%H %T %an", f"main..{BRANCH}").splitlines()
    assert log == [f"{step.commit} {step.tree} Orchestrator" for step in (last, change)]


def test_a_squashed_branch_holds_one_commit_and_no_older_blob(exchange: Exchange):
    first = exchange.admit({b"a.txt": ("100644", b"secret\n")})
    last = exchange.admit({b"a.txt": ("100644", b"clean\n")}, first.commit)
    squashed = exchange.quarantine.squash(last.commit, NOTE)
    done = publish(exchange.repository, exchange.quarantine, "r1", squashed, squashed=True)
    assert done == Delivered(branch=BRANCH, commit=squashed, squashed=True)
    assert answer(exchange, "log", "--format=%T", f"main..{BRANCH}") == last.tree
    git(exchange.user, "cat-file", "-e", first.commit, status=1)
    git(exchange.user, "cat-file", "-e", f"{first.tree}", status=1)


def test_publishing_touches_nothing_else(exchange: Exchange, change: Change):
    (exchange.user / "a.txt").write_bytes(b"dirty")
    (exchange.user / "staged").write_bytes(b"staged")
    git(exchange.user, "add", "staged")
    before = state(exchange)
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    assert state(exchange, "agent") == before


def test_a_branch_is_published_once(exchange: Exchange, published: Change):
    with pytest.raises(ConflictError, match="agent/r1 was not written"):
        publish(exchange.repository, exchange.quarantine, "r1", exchange.base.commit)
    assert exchange.repository.branch(BRANCH) == published.commit


def test_a_branch_that_is_checked_out_is_not_published(exchange: Exchange, change: Change):
    git(exchange.user, "checkout", "--quiet", "--orphan", BRANCH)
    with pytest.raises(ConflictError, match=f"agent/r1 is checked out in {exchange.user}"):
        publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    assert exchange.repository.branch(BRANCH) is None


def test_a_stale_lock_is_reported_and_stays(exchange: Exchange, change: Change):
    lock = exchange.user / ".git/refs/heads/agent/r1.lock"
    lock.parent.mkdir()
    lock.write_bytes(b"")
    with pytest.raises(GitError, match="Branch agent/r1 is locked; if no other git is at work"):
        publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    assert lock.exists()


def test_an_index_lock_is_no_obstacle(exchange: Exchange, change: Change):
    (exchange.user / ".git/index.lock").write_bytes(b"")
    assert exchange.repository.dirty() == 0
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    assert (exchange.user / ".git/index.lock").exists()


def test_a_shallow_source_gets_its_branch(tmp_path: Path, exchange: Exchange):
    commit(exchange.user, {"a.txt": b"two\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{exchange.user}", "shallow")
    repository = Repository.open(str(tmp_path / "shallow"), tmp_path / "home")
    base = repository.resolve("HEAD")
    pack = repository.pack(base, tmp_path / "packs2")
    quarantine = exchange.quarantine.create(tmp_path / "q2.git", pack, base)
    git(exchange.inside.path, "index-pack", "--stdin", stdin=pack.read_bytes())
    shallow = replace(exchange, repository=repository, base=base, quarantine=quarantine)
    change = shallow.admit({b"new": ("100644", b"x")})
    publish(repository, quarantine, "r1", change.commit)
    assert repository.branch(BRANCH) == change.commit


# Merging


def test_a_merge_commit_joins_both(exchange: Exchange, published: Change):
    git(exchange.user, "branch", "stable")
    before = state(exchange, "stable")
    done = merge(exchange.repository, "r1", published.commit, into="stable")
    assert done == Merged(branch="stable", commit=answer(exchange, "rev-parse", "stable"))
    parents = answer(exchange, "log", "-1", "--format=%P", "stable")
    assert parents == f"{exchange.base.commit} {published.commit}"
    assert answer(exchange, "rev-parse", "stable^{tree}") == published.tree
    assert state(exchange, "stable") == before


def test_a_branch_that_went_on_is_merged_three_ways(exchange: Exchange, published: Change):
    git(exchange.user, "checkout", "--quiet", "-b", "stable")
    commit(exchange.user, {"src/b.py": b"changed\n"})
    git(exchange.user, "checkout", "--quiet", "main")
    merge(exchange.repository, "r1", published.commit, into="stable")
    assert answer(exchange, "show", "stable:src/b.py") == "changed"
    assert answer(exchange, "show", "stable:a.txt") == "one\n2"


def test_a_bare_repository_merges_into_its_default_branch(
    tmp_path: Path, exchange: Exchange, change: Change
):
    git(tmp_path, "clone", "--quiet", "--bare", "user", "bare.git")
    bare = Repository.open(str(tmp_path / "bare.git"), tmp_path / "home")
    publish(bare, exchange.quarantine, "r1", change.commit)
    assert merge(bare, "r1", change.commit) == Merged(branch="main", commit=bare.branch("main"))


def test_a_checked_out_branch_is_left_to_the_user(exchange: Exchange, published: Change):
    before = state(exchange)
    with pytest.raises(UsageError) as caught:
        merge(exchange.repository, "r1", published.commit)
    command = f"git -C {exchange.user} merge --no-ff agent/r1"
    assert f"so type `{command}`, or merge into another branch with --into." in str(caught.value)
    assert state(exchange) == before
    git(exchange.user, *command.split()[1:])
    assert answer(exchange, "rev-parse", "main^2") == published.commit


def test_merging_again_changes_nothing(exchange: Exchange, published: Change):
    git(exchange.user, "branch", "stable")
    first = merge(exchange.repository, "r1", published.commit, into="stable")
    assert merge(exchange.repository, "r1", published.commit, into="stable") == first


def test_a_merge_that_is_long_past_is_none_to_be_made(exchange, published, monkeypatch):
    monkeypatch.setattr(delivery, "REACH", 1)
    git(exchange.user, "branch", "stable")
    merge(exchange.repository, "r1", published.commit, into="stable")
    later = answer(exchange, "commit-tree", "stable^{tree}", "-p", "stable", "-m", "later")
    git(exchange.user, "update-ref", "refs/heads/stable", later)
    again = merge(exchange.repository, "r1", published.commit, into="stable")
    assert again == Merged(branch="stable", commit=published.commit)
    assert exchange.repository.branch("stable") == later


def test_conflicts_are_listed_and_change_nothing(exchange: Exchange, published: Change):
    git(exchange.user, "checkout", "--quiet", "-b", "stable")
    commit(exchange.user, {"a.txt": b"other\n"})
    git(exchange.user, "checkout", "--quiet", "main")
    before = state(exchange)
    by_hand = "switch to stable and type `git merge --no-ff agent/r1`"
    with pytest.raises(ConflictError, match=rf"changed the same lines of: a\.txt; .*{by_hand}"):
        merge(exchange.repository, "r1", published.commit, into="stable")
    assert state(exchange) == before


def test_an_unknown_target_is_told(exchange: Exchange, published: Change):
    with pytest.raises(UsageError, match="There is no branch none"):
        merge(exchange.repository, "r1", published.commit, into="none")


def test_a_detached_head_is_no_target(exchange: Exchange, published: Change):
    git(exchange.user, "checkout", "--quiet", "--detach")
    with pytest.raises(UsageError, match="HEAD is detached"):
        merge(exchange.repository, "r1", published.commit)


# Taking back


def test_a_branch_can_be_discarded(exchange: Exchange, published: Change):
    assert discard(exchange.repository, "r1", published.commit) is True
    assert exchange.repository.branch(BRANCH) is None
    assert discard(exchange.repository, "r1", published.commit) is False


def test_a_branch_in_use_is_kept(exchange: Exchange, published: Change):
    git(exchange.user, "worktree", "add", "--quiet", "../review", BRANCH)
    with pytest.raises(ConflictError, match=r"agent/r1 is checked out in \S+/review"):
        discard(exchange.repository, "r1", published.commit)
    assert exchange.repository.branch(BRANCH) == published.commit


def test_a_branch_that_somebody_went_on_with_is_kept(exchange: Exchange, published: Change):
    git(exchange.user, "checkout", "--quiet", BRANCH)
    mine = commit(exchange.user, {"mine": b""})
    git(exchange.user, "checkout", "--quiet", "main")
    with pytest.raises(ConflictError, match="agent/r1 has commits that are not the run's"):
        discard(exchange.repository, "r1", published.commit)
    assert exchange.repository.branch(BRANCH) == mine
