"""Which files of a folder are looked at."""

import os

import pytest

from orchestrator import sources
from tests.conftest import git


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x\n")
    return folder


def found(folder):
    return [str(path.relative_to(folder)) for path in sources.under(folder)]


@pytest.fixture
def tree(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    make(tmp_path, "a.py", "sub/b.py", "sub/deep/c.py", ".hidden", "build/made.py", "own.log")
    tmp_path.joinpath(".gitignore").write_text("build/\n*.log\n")
    tmp_path.joinpath(".git/info/exclude").write_text("own.log\n")
    return tmp_path


def test_what_git_could_track_is_seen_also_before_the_first_commit(tree):
    assert found(tree) == [".gitignore", ".hidden", "a.py", "sub/b.py", "sub/deep/c.py"]


def test_a_folder_of_a_work_tree_has_only_its_own_files(tree):
    assert found(tree / "sub") == ["b.py", "deep/c.py"]


def test_an_ignored_folder_that_is_asked_for_is_looked_into(tree):
    make(tree, "build/sub/other.py", "build/.hidden/x.py")
    assert found(tree / "build") == ["made.py", "sub/other.py"]


def test_tracked_files_count_though_they_are_ignored_and_deleted_ones_do_not(tree):
    git(tree, "add", "--all", "--force")
    git(tree, "commit", "--quiet", "--message=base")
    (tree / "a.py").unlink()
    make(tree, "new.py")
    assert found(tree) == [
        *(".gitignore", ".hidden", "build/made.py", "new.py", "own.log"),
        *("sub/b.py", "sub/deep/c.py"),
    ]


def test_nothing_in_the_repository_is_touched_or_run(tree):
    git(tree, "config", "core.fsmonitor", "touch pwned")
    before = {path: path.stat().st_mtime_ns for path in (tree / ".git").rglob("*")}
    sources.under(tree)
    assert {path: path.stat().st_mtime_ns for path in (tree / ".git").rglob("*")} == before
    assert not (tree / "pwned").exists()


def test_links_are_not_followed(tree):
    (tree / "link.py").symlink_to("/etc/passwd")
    (tree / "folder").symlink_to("/etc")
    assert "link.py" not in found(tree)
    assert not any(name.startswith("folder") for name in found(tree))


def test_a_name_may_be_any_bytes(tree):
    name = os.fsdecode(b"caf\xe9\n.py")
    make(tree, name)
    assert name in found(tree)


def test_outside_of_a_repository_hidden_and_foreign_folders_are_left_out(tmp_path):
    make(tmp_path, "a.py", ".x/b.py", ".env", "node_modules/c.js", "src/vendor/d.go", "src/e.go")
    assert found(tmp_path) == ["a.py", "src/e.go"]
