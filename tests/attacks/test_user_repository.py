"""What a hostile repository of the user's tries on the host; honest work goes through each time."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.delivery import merge, publish
from tests.exchange import Exchange, Leaf, commit, fingerprint, git, start

FILES = {"a.txt": b"one\n", "src/b.py": b"print()\n"}
HONEST: Mapping[bytes, Leaf | None] = {b"a.txt": ("100644", b"one\ntwo\n")}


def everything(user: Path, root: Path) -> str:
    """All that the host does with a user's repository; the published and merged text of a.txt."""
    exchange = Exchange.over(user, root)
    git(user, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/stable", "HEAD")
    exchange.repository.dirty()
    exchange.repository.references()
    exchange.repository.read(exchange.base.commit, "a.txt")
    change = exchange.admit(HONEST)
    exchange.quarantine.diff(exchange.base.commit, change.commit)
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    merge(exchange.repository, "r1", change.commit, into="stable")
    return git(user, "cat-file", "blob", "stable:a.txt").decode()


# B1, B5: the user's repository may name programs; none of them runs


def trap(path: Path, mark: Path) -> str:
    """A program that leaves a mark when it runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    path.chmod(0o755)
    return str(path)


PROGRAMS = (
    *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass"),
    *("core.alternateRefsCommand", "credential.helper", "gpg.program", "diff.external"),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process"),
    *("diff.x.command", "diff.x.textconv", "merge.x.driver", "trailer.x.command"),
)


@pytest.mark.parametrize("setting", PROGRAMS)
def test_no_program_of_the_settings_runs(tmp_path: Path, setting: str):
    user = start(tmp_path / "user", FILES | {".gitattributes": b"* filter=x diff=x merge=x\n"})
    mark = tmp_path / "mark"
    git(user, "config", setting, trap(tmp_path / "trap", mark))
    git(user, "config", "commit.gpgSign", "true")
    (user / "a.txt").write_bytes(b"edit")
    assert everything(user, tmp_path) == "one\ntwo\n"
    assert not mark.exists()


@pytest.mark.parametrize("command", [("status",), ("diff",)])
def test_the_trap_is_a_trap(tmp_path: Path, command: tuple[str, ...]):
    user = start(tmp_path / "user", FILES | {".gitattributes": b"* filter=x\n"})
    git(user, "config", "filter.x.clean", trap(tmp_path / "trap", tmp_path / "mark"))
    (user / "a.txt").write_bytes(b"on\n\n")
    git(user, *command)
    assert (tmp_path / "mark").exists()


def test_no_hook_runs(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    mark = tmp_path / "mark"
    names = ("reference-transaction", "post-index-change", "pre-commit", "post-checkout")
    for name in (*names, "post-merge", "update", "pre-auto-gc"):
        trap(user / ".git/hooks" / name, mark)
    assert everything(user, tmp_path) == "one\ntwo\n"
    assert not mark.exists()


def test_a_merge_of_both_sides_runs_no_driver(tmp_path: Path):
    files = {".gitattributes": b"* merge=x\n", "a.txt": b"one\n2\n3\n4\n"}
    exchange = Exchange.create(tmp_path, files)
    mark = tmp_path / "mark"
    git(exchange.user, "config", "merge.x.driver", trap(tmp_path / "trap", mark))
    change = exchange.admit({b"a.txt": ("100644", b"ONE\n2\n3\n4\n")})
    git(exchange.user, "checkout", "--quiet", "-b", "stable")
    commit(exchange.user, {"a.txt": b"one\n2\n3\nFOUR\n"})
    git(exchange.user, "checkout", "--quiet", "main")
    publish(exchange.repository, exchange.quarantine, "r1", change.commit)
    merge(exchange.repository, "r1", change.commit, into="stable")
    assert git(exchange.user, "cat-file", "blob", "stable:a.txt") == b"ONE\n2\n3\nFOUR\n"
    assert not mark.exists()


def test_a_work_tree_elsewhere_is_not_touched(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    victim = start(tmp_path / "victim", {"a.txt": b"mine\n"})
    git(user, "config", "core.worktree", str(victim))
    before = fingerprint(victim)
    assert everything(user, tmp_path) == "one\ntwo\n"
    assert fingerprint(victim) == before


def test_only_our_branches_and_packs_are_written(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    git(user, "tag", "v1")
    git(user, "update-ref", "refs/remotes/origin/main", "HEAD")
    (user / "a.txt").write_bytes(b"dirty")
    before = fingerprint(user)
    everything(user, tmp_path)
    after = fingerprint(user)
    written = {name for name in before | after if before.get(name) != after.get(name)}
    ours = ("objects/pack/pack-", "refs/heads/agent", "refs/heads/stable")
    assert {name for name in written if not any(part in name for part in ours)} == set()


# B3: nothing but the base goes in


def test_nothing_but_the_base_is_packed(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    git(user, "config", "remote.origin.url", "https://joe:t0ken@example.org/x")
    git(user, "checkout", "--quiet", "-b", "private")
    commit(user, {"private.txt": b"secret-branch"})
    git(user, "checkout", "--quiet", "main")
    (user / "a.txt").write_bytes(b"secret-stash")
    git(user, "stash")
    exchange = Exchange.over(user, tmp_path)
    names = git(exchange.inside.path, "cat-file", "--batch-all-objects", "--batch-check")
    listed = git(user, "rev-list", "--objects", "--no-walk", "main").split(b"\n")[:-1]
    assert {line[:40] for line in names.split(b"\n")[:-1]} == {line[:40] for line in listed}


def test_replaced_objects_are_not_believed(tmp_path: Path):
    user = start(tmp_path / "user", FILES)
    real = git(user, "rev-parse", "HEAD:a.txt").decode().strip()
    fake = git(user, "hash-object", "-w", "--stdin", stdin=b"fake\n").decode().strip()
    git(user, "replace", real, fake)
    exchange = Exchange.over(user, tmp_path)
    assert git(exchange.inside.path, "cat-file", "blob", real) == b"one\n"
    assert exchange.repository.read(exchange.base.commit, "a.txt") == b"one\n"


def test_a_git_file_may_point_to_another_repository(tmp_path: Path):
    real = start(tmp_path / "real", FILES)
    (tmp_path / "pointer").mkdir()
    (tmp_path / "pointer/.git").write_text(f"gitdir: {real}/.git\n")
    before = fingerprint(real)
    exchange = Exchange.over(tmp_path / "pointer", tmp_path)
    exchange.repository.dirty()
    exchange.admit(HONEST)
    assert fingerprint(real) == before
