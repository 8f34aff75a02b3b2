"""What a file was called before, as git tells it."""

import os

import pytest

from orchestrator.renames import earlier_names, is_file, later_name
from orchestrator.repository import Repository
from tests.conftest import git, tiny_repository

TEXT = b"".join(b"line %d\n" % number for number in range(20))


@pytest.fixture
def user(tmp_path):
    return tiny_repository(tmp_path / "r", {"a b.py": TEXT, "other": b"o\n"})


def opened(user):
    return Repository.open(str(user), user / "home")


def move(user, old, new):
    git(user, "mv", "--", old, new)
    git(user, "commit", "-qm", f"{old} -> {new}")


def test_renames_are_followed_back_the_latest_first(user):
    move(user, "a b.py", "b:c.py")
    move(user, "other", "elsewhere")
    (user / "b:c.py").write_bytes(TEXT + b"more\n")
    move(user, "b:c.py", "-d.py")
    assert list(earlier_names(opened(user), "-d.py")) == ["b:c.py", "a b.py"]


def test_a_staged_rename_comes_first(user):
    move(user, "a b.py", "b.py")
    git(user, "mv", "b.py", "c.py")
    (user / "c.py").write_bytes(TEXT + b"more\n")
    assert list(earlier_names(opened(user), "c.py")) == ["b.py", "a b.py"]


def test_a_file_that_was_moved_without_git_is_recognized(user):
    os.rename(user / "a b.py", user / "b.py")
    index = (user / ".git/index").read_bytes()
    assert list(earlier_names(opened(user), "b.py")) == ["a b.py"]
    assert (user / ".git/index").read_bytes() == index


def test_a_new_file_has_no_other_name(user):
    (user / "new").write_bytes(b"something else\n")
    assert list(earlier_names(opened(user), "new")) == ["new"]
    assert list(earlier_names(opened(user), "other")) == []


def test_renames_are_followed_on(user):
    git(user, "branch", "start")
    move(user, "a b.py", "b.py")
    (user / "b.py").write_bytes(b"something else\n")
    git(user, "commit", "-qam", "rewritten")
    move(user, "b.py", "c.py")
    assert later_name(opened(user), "a b.py", "start", "HEAD") == "c.py"
    assert later_name(opened(user), "other", "start", "HEAD") == "other"


def test_a_file_is_no_link_and_no_folder(user):
    (user / "link").symlink_to("other")
    (user / "folder").mkdir()
    (user / "folder/x").touch()
    git(user, "add", ".")
    git(user, "commit", "-qm", "more")
    names = ("a b.py", "link", "folder", "folder/x", "none")
    assert [is_file(opened(user), "HEAD", name) for name in names] == [1, 0, 0, 1, 0]
