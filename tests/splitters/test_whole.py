"""Files are written whole, and read only where they are plain files."""

import os
from pathlib import Path

import pytest

from splitters import whole
from tests.unprivileged import unprivileged


def test_a_file_is_replaced_with_its_mode(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert whole.replace(path, b"new", b"old")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_that_has_changed_is_not_replaced(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"others")
    assert not whole.replace(path, b"new", b"old")
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (b"others", [path])


def test_a_link_is_not_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    assert not whole.replace(tmp_path / "link", b"new", b"old")
    assert (tmp_path / "real").read_bytes() == b"old"
    assert len([*tmp_path.iterdir()]) == 2


def test_what_a_killed_one_left_is_in_nobodys_way(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    whole.put(path, b"newer")
    (tmp_path / ".a.new").write_bytes(b"half")
    whole.put(path, b"newest")
    assert (path.read_bytes(), [*tmp_path.iterdir()]) == (b"newest", [path])


def test_a_planted_link_is_not_written_through(tmp_path):
    (tmp_path / "victim").write_bytes(b"old")
    (tmp_path / "a").symlink_to("victim")
    with pytest.raises(FileExistsError):
        whole.write(tmp_path / "a", b"new")
    assert (tmp_path / "victim").read_bytes() == b"old"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_plain_files_are_read(tmp_path, kind):
    (tmp_path / "real").write_bytes(b"old")
    path = tmp_path / "a"
    if kind == "link":
        path.symlink_to("real")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert whole.read(folder, "real") == b"old"
        with pytest.raises(OSError, match=r"."):
            whole.read(folder, "a")
        held = [os.path.realpath(fd) for fd in Path("/proc/self/fd").iterdir()]
        assert str(path) not in held
    finally:
        os.close(folder)


def test_a_folder_that_may_not_be_written_is_named_and_no_passing_file(tmp_path, monkeypatch):
    folder = tmp_path / "open" / "shut"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"old")
    folder.chmod(0o555)
    monkeypatch.chdir(folder.parent)
    with unprivileged(), pytest.raises(PermissionError) as refused:
        whole.replace(Path("shut/a"), b"new", b"old")
    assert (refused.value.filename, (folder / "a").read_bytes()) == ("shut", b"old")
