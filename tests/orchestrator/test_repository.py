import os
from pathlib import Path

import pytest

from orchestrator import repository as module
from orchestrator.errors import ConflictError, GitError, RepositoryError
from orchestrator.repository import Base, Repository
from tests.exchange import commit, fingerprint, git, start


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return start(tmp_path / "user", {"a.txt": b"one\n", "src/b.py": b"print()\n"})


def opened(path: Path | str, home: Path = Path("/nonexistent")) -> Repository:
    return Repository.open(str(path), home)


def refusal(path: Path | str) -> str:
    with pytest.raises(RepositoryError) as caught:
        opened(path).resolve("HEAD")
    return str(caught.value)


def head(path: Path, name: str = "HEAD") -> str:
    return git(path, "rev-parse", name + "^{commit}").decode().strip()


def ids_in(pack: Path) -> set[str]:
    lines = git(pack.parent, "verify-pack", "-v", str(pack.with_suffix(".idx"))).decode()
    return {line.split()[0] for line in lines.splitlines() if len(line.split()) >= 5}


# Where a repository may be


def test_a_path_that_records_cannot_hold_is_refused(tmp_path: Path):
    odd = start(tmp_path / os.fsdecode(b"\xff"), {"a": b""})
    assert "is not text in UTF-8: rename the folder" in refusal(odd)


def test_a_folder_below_the_top_is_in_the_repository(user: Path):
    assert opened(user / "src").place.work_tree == user
    assert opened(user / "src").resolve("HEAD").commit == head(user)


def test_git_s_own_folder_stands_for_its_repository(user: Path):
    assert opened(user / ".git").place.work_tree == user


def test_a_bare_repository_is_read(user: Path, tmp_path: Path):
    git(tmp_path, "clone", "--quiet", "--bare", "user", "bare.git")
    bare = opened(tmp_path / "bare.git")
    assert (bare.place.work_tree, bare.resolve("HEAD").commit) == (None, head(user))
    assert bare.dirty() == 0


def test_a_linked_worktree_has_a_head_of_its_own(user: Path, tmp_path: Path):
    git(user, "worktree", "add", "--quiet", "-b", "side", "../linked")
    ahead = commit(tmp_path / "linked", {"c": b"3"})
    linked = opened(tmp_path / "linked")
    assert (linked.current_branch(), linked.resolve("HEAD").commit) == ("side", ahead)
    (tmp_path / "linked/d").write_bytes(b"")
    assert (linked.dirty(), opened(user).dirty()) == (1, 0)


def test_a_shallow_clone_can_be_packed(user: Path, tmp_path: Path):
    commit(user, {"a.txt": b"two\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{user}", "shallow")
    shallow = opened(tmp_path / "shallow")
    base = shallow.resolve("HEAD")
    assert base.commit in ids_in(shallow.pack(base, tmp_path / "packs"))
    assert shallow.dirty() == 0


def test_a_file_url_is_a_local_path(tmp_path: Path):
    user = start(tmp_path / "with space", {"a": b""})
    assert opened(f"file://{tmp_path}/with%20space").place.work_tree == user


@pytest.mark.parametrize("name", ["with space", 'quo"te', "new\nline", "-dash", "ünï"])
def test_odd_paths_work(tmp_path: Path, name: str):
    user = start(tmp_path / name, {"a": b"1"})
    (user / "a").write_bytes(b"22")
    found = opened(user)
    assert found.dirty() == 1
    assert found.pack(found.resolve("main"), tmp_path / "packs").exists()


# Where it may not


def test_a_missing_folder_is_told():
    assert refusal("/no/where") == "There is no folder /no/where: check the path, or give a URL."


def test_a_file_is_told(user: Path):
    message = f"{user}/a.txt is a file: give the folder of a git repository."
    assert refusal(user / "a.txt") == message


def test_a_plain_folder_is_told(tmp_path: Path):
    assert refusal(tmp_path) == (
        f"{tmp_path} is not a git repository: run `git init` and commit there, or give another."
    )


def test_an_empty_repository_is_told(tmp_path: Path):
    git(tmp_path, "init", "--quiet")
    assert refusal(tmp_path) == f"{tmp_path} has no commit yet: commit something first."


def test_the_inside_of_a_bare_repository_is_told(tmp_path: Path):
    git(tmp_path, "init", "--quiet", "--bare", "b.git")
    bare = tmp_path / "b.git"
    message = f"{bare}/refs is inside the bare repository {bare}: give that one."
    assert refusal(bare / "refs") == message


def test_sha256_is_told(tmp_path: Path):
    user = start(tmp_path / "user", {"a": b""}, "--object-format=sha256")
    assert "names its objects by SHA-256, which is not supported" in refusal(user)


def test_a_broken_configuration_is_told(user: Path):
    (user / ".git/config").write_text("[core\n")
    assert refusal(user).startswith(f"git cannot read {user}: fatal: bad config line")


def test_a_stranger_s_repository_is_told(tmp_path: Path):
    reason = f"fatal: detected dubious ownership in repository at '{tmp_path}'"
    assert module._why_not(tmp_path, reason) == (
        f"{tmp_path} belongs to another user: if you trust it, run"
        f" `git config --global --add safe.directory {tmp_path}`."
    )


def test_a_partial_clone_without_its_files_is_told(user: Path, tmp_path: Path):
    git(user, "config", "uploadpack.allowFilter", "true")
    where = ("--filter=blob:none", "--no-checkout", f"file://{user}", "partial")
    git(tmp_path, "clone", "--quiet", *where)
    partial = opened(tmp_path / "partial")
    with pytest.raises(RepositoryError, match=r"run `git -C \S+ fetch --refetch --no-filter`"):
        partial.pack(partial.resolve("HEAD"), tmp_path / "packs")
    assert list((tmp_path / "packs").iterdir()) == []


def test_a_pack_kept_from_a_full_clone_does_not_hide_what_a_partial_one_lacks(user, tmp_path):
    full = opened(user)
    full.pack(full.resolve("HEAD"), tmp_path / "packs")
    git(user, "config", "uploadpack.allowFilter", "true")
    where = ("--filter=blob:none", "--no-checkout", f"file://{user}", "partial")
    git(tmp_path, "clone", "--quiet", *where)
    partial = opened(tmp_path / "partial")
    with pytest.raises(RepositoryError, match="is a partial clone"):
        partial.pack(partial.resolve("HEAD"), tmp_path / "packs")


def test_the_advice_for_a_partial_clone_helps(user: Path, tmp_path: Path):
    git(user, "config", "uploadpack.allowFilter", "true")
    where = ("--filter=blob:none", "--no-checkout", f"file://{user}", "partial")
    git(tmp_path, "clone", "--quiet", *where)
    git(tmp_path / "partial", "fetch", "--quiet", "--refetch", "--no-filter")
    partial = opened(tmp_path / "partial")
    assert partial.pack(partial.resolve("HEAD"), tmp_path / "packs").exists()


def test_a_damaged_repository_is_told(user: Path, tmp_path: Path):
    blob = git(user, "rev-parse", "HEAD:a.txt").decode().strip()
    (user / ".git/objects" / blob[:2] / blob[2:]).unlink()
    damaged = opened(user)
    with pytest.raises(RepositoryError, match=r"lacks objects of \w+: run `git -C \S+ fsck`"):
        damaged.pack(damaged.resolve("HEAD"), tmp_path / "packs")


# The base


@pytest.mark.parametrize("base", ["HEAD", "main", "v1", "light", "HEAD~1", "refs/heads/main"])
def test_a_base_has_many_names(user: Path, base: str):
    first = head(user)
    last = commit(user, {"a.txt": b"two\n"})
    git(user, "tag", "-a", "-m", "one", "v1")
    git(user, "tag", "light", "HEAD~1")
    expected = first if base in ("light", "HEAD~1") else last
    tree = git(user, "rev-parse", expected + "^{tree}").decode().strip()
    assert opened(user).resolve(base) == Base(expected, tree)


def test_a_short_id_is_a_base(user: Path):
    assert opened(user).resolve(head(user)[:8]).commit == head(user)


@pytest.mark.parametrize("base", ["mian", "", "-x", "HEAD~9", "HEAD..main", "HEAD:a.txt", "\n"])
def test_an_unknown_base_is_told_with_what_is_near(user: Path, base: str):
    with pytest.raises(RepositoryError) as caught:
        opened(user).resolve(base)
    message = f"{user} has no commit called {base!r}: did you mean main?"
    assert str(caught.value) == message


def test_branches_and_tags_are_known_by_their_short_names(user: Path):
    git(user, "branch", "side/x")
    git(user, "pack-refs", "--all")
    git(user, "tag", "v1")
    assert sorted(opened(user).references()) == ["main", "side/x", "v1"]


# What a sandbox is given


def test_a_pack_holds_the_base_commit_and_nothing_older(user: Path, tmp_path: Path):
    old_blob = git(user, "rev-parse", "HEAD:a.txt").decode().strip()
    first = head(user)
    commit(user, {"a.txt": b"two\n"})
    base = opened(user).resolve("HEAD")
    ids = ids_in(opened(user).pack(base, tmp_path / "packs"))
    listed = git(user, "rev-list", "--objects", "--no-walk", "HEAD").decode().splitlines()
    assert ids == {line.split()[0] for line in listed}
    assert not ids & {old_blob, first}


def test_packing_writes_nothing_among_the_user_s_objects(user: Path, tmp_path: Path):
    objects = user / ".git/objects"
    before = {path: path.stat().st_mtime_ns for path in (objects, *objects.rglob("*"))}
    opened(user).pack(opened(user).resolve("HEAD"), tmp_path / "packs")
    assert {path: path.stat().st_mtime_ns for path in (objects, *objects.rglob("*"))} == before


def test_a_pack_is_made_once(user: Path, tmp_path: Path):
    found = opened(user)
    base = found.resolve("HEAD")
    before = found.pack(base, tmp_path / "packs").stat()
    assert found.pack(base, tmp_path / "packs").stat() == before
    names = sorted(path.name for path in (tmp_path / "packs").iterdir())
    assert names == [f"{base.commit}.idx", f"{base.commit}.pack"]


def test_a_link_or_folder_in_a_files_place_is_an_error(user: Path):
    (user / "link").symlink_to("a.txt")
    git(user, "add", "link")
    git(user, "commit", "--quiet", "--message=link")
    found = opened(user)
    for path in ("link", "src"):
        with pytest.raises(RepositoryError, match=f"{path} is not a plain file"):
            found.read(found.resolve("HEAD").commit, path)


def test_a_file_of_the_base_can_be_read(user: Path):
    found = opened(user)
    commit_id = found.resolve("HEAD").commit
    (user / "a.txt").write_bytes(b"dirty")
    assert found.read(commit_id, "a.txt") == b"one\n"
    assert found.read(commit_id, "none") is None
    assert found.read(commit_id, "*.txt") is None


# What is not in the base


def test_changed_staged_deleted_and_new_files_are_dirty(user: Path):
    (user / "a.txt").write_bytes(b"changed")
    (user / "src/b.py").unlink()
    (user / "new").write_bytes(b"")
    (user / "staged").write_bytes(b"")
    git(user, "add", "staged")
    assert opened(user).dirty() == 4


def test_ignored_files_and_submodules_are_not_dirty(user: Path):
    git(user, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", "./", "sub")
    commit(user, {".gitignore": b"*.o\n"})
    (user / ".git/info/exclude").write_text("mine\n")
    for name in ("x.o", "mine", "sub/a.txt"):
        (user / name).write_bytes(b"x")
    assert opened(user).dirty() == 0


def test_looking_changes_nothing(user: Path):
    (user / "a.txt").write_bytes(b"changed")
    os.utime(user / "src/b.py", (1, 1))  # the index is stale: git would refresh it
    before = fingerprint(user)
    found = opened(user)
    found.dirty()
    found.references()
    found.checked_out()
    assert fingerprint(user) == before


def test_a_split_index_is_understood(user: Path):
    git(user, "update-index", "--split-index")
    (user / "a.txt").write_bytes(b"changed")
    assert opened(user).dirty() == 1


# Branches


def test_a_branch_is_created_moved_and_deleted(user: Path):
    found = opened(user)
    first = head(user)
    second = commit(user, {"c": b""})
    found.create_branch("agent/x", first)
    assert found.branch("agent/x") == first
    found.move_branch("agent/x", second, first)
    assert found.branch("agent/x") == second
    found.delete_branch("agent/x", second)
    assert found.branch("agent/x") is None


def test_a_branch_is_created_once_and_moved_only_from_where_it_was(user: Path):
    found = opened(user)
    first = head(user)
    second = commit(user, {"c": b""})
    found.create_branch("agent/x", second)
    with pytest.raises(ConflictError, match="agent/x was not written"):
        found.create_branch("agent/x", first)
    with pytest.raises(ConflictError, match="agent/x was not written"):
        found.move_branch("agent/x", second, first)
    assert found.branch("agent/x") == second


def test_a_lock_is_reported_and_stays(user: Path):
    lock = user / ".git/refs/heads/agent/x.lock"
    lock.parent.mkdir()
    lock.write_bytes(b"")
    with pytest.raises(GitError, match="Branch agent/x is locked"):
        opened(user).create_branch("agent/x", head(user))
    assert lock.exists()


def test_branches_in_use_are_known(user: Path, tmp_path: Path):
    git(user, "worktree", "add", "--quiet", "-b", "side", "../linked")
    git(user, "branch", "free")
    assert opened(user).checked_out() == {"main": user, "side": tmp_path / "linked"}


def test_a_branch_in_a_rebase_is_in_use(user: Path):
    commit(user, {"a.txt": b"mine\n"})
    git(user, "checkout", "--quiet", "-b", "other", "HEAD~1")
    commit(user, {"a.txt": b"theirs\n"})
    git(user, "rebase", "main", status=1)
    assert opened(user).checked_out() == {"other": user / ".git"}


def test_a_detached_head_names_no_branch(user: Path):
    git(user, "checkout", "--quiet", "--detach")
    assert opened(user).current_branch() is None
    assert opened(user).checked_out() == {}


def test_a_branch_with_a_tag_s_name_is_named_by_its_own(user: Path):
    git(user, "tag", "main")
    assert opened(user).current_branch() == "main"
