"""File tools refuse what a run was told to leave alone, by name."""

import pytest

from orchestrator.tools.boundary import Boundary
from sandbox.files import FileError, Swap, anything


def test_the_named_file_and_temporary_ones_may_be_written():
    boundary = Boundary(("src/a b.py",))
    for path in ("src/a b.py", "/workspace/src/../src/a b.py", "/tmp/x", "/var/tmp/y/z"):
        boundary(path, "")


@pytest.mark.parametrize(
    "path", ["b.py", "/workspace/src", "/tmp/../workspace/b.py", "src/a.py/../b.py", "/etc/hosts"]
)
def test_another_path_is_refused_and_the_allowed_one_named(path):
    with pytest.raises(FileError) as refused:
        Boundary(("src/a.py",))(path, "")
    assert str(refused.value) == (
        f"{path}: not allowed; only src/a.py may be changed (and renamed, with move_file),"
        " and files in /tmp and /var/tmp"
    )


def test_a_renamed_file_is_followed():
    boundary = Boundary(("a.py",))
    boundary("a.py", "b.py")
    boundary("b.py", "c.py")
    boundary("c.py", "")


@pytest.mark.parametrize("paths", [("/tmp/x", "b.py"), ("b.py", "a.py"), ("docs/x", "b.py")])
def test_no_other_file_is_moved(paths):
    with pytest.raises(FileError, match="not allowed"):
        Boundary(("a.py", "docs"))(*paths)


def test_it_holds_when_the_box_is_opened_again(bench):
    box = bench.box
    box.guard_files(Boundary(("a.py",)))
    try:
        for change in (
            lambda: box.files.write("b.py", b""),
            lambda: box.files.delete("README.md"),
            lambda: box.files.move("README.md", "b.py"),
            lambda: box.files.swap([Swap("a.py", None, b"x"), Swap("b.py", None, b"x")]),
        ):
            with pytest.raises(FileError, match=r"only a\.py may be changed"):
                change()
        box.files.write("a.py", b"x")
        box.reopen()
        with pytest.raises(FileError, match=r"only a\.py may be changed"):
            box.files.write("b.py", b"")
    finally:
        box.guard_files(anything)
