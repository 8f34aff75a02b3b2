"""Where a run was told to keep to some paths, everything else is blocked."""

import time

import pytest

from orchestrator.guardrails import boundary
from orchestrator.guardrails.table import keeps_to

TEXT = b"".join(b"line %d\n" % number for number in range(20))
EDITED = TEXT.replace(b"line 7\n", b"line seven\n")
OTHER = b"".join(b"row %d\n" % number for number in range(20))


def found(difference, *only):
    return [(finding.rule, finding.path) for finding in boundary.check(difference, only)]


@pytest.mark.parametrize("path", [b"a.py", b"docs/x.md", b"docs/deep/y.md"])
def test_what_is_named_may_change(change, path):
    assert found(change((path, b"old", b"new")), "a.py", "docs") == []


@pytest.mark.parametrize("path", [b"b.py", b"a.py.bak", b"doc", b"docs2/x", b"x/a.py", b"A.py"])
@pytest.mark.parametrize(("old", "new"), [(b"o", b"n"), (None, b"n"), (b"o", None)])
def test_a_change_elsewhere_is_blocked(change, path, old, new):
    difference = change((b"a.py", b"old", b"new"), (path, old, new))
    assert found(difference, "a.py", "docs") == [("boundary.outside", path.decode())]


def test_a_folder_in_the_place_of_a_file_is_blocked(change):
    inside = (b"a.py/x.py", None, TEXT), (b"a.py/y.py", None, OTHER)
    difference = change((b"a.py", TEXT, None), *inside)
    expected = [("boundary.outside", path.decode()) for path, _, _ in inside]
    assert found(difference, "a.py") == expected


@pytest.mark.parametrize("content", [TEXT, EDITED])
def test_a_renamed_file_is_still_that_file(change, content):
    assert found(change((b"a.py", TEXT, None), (b"b.py", None, content)), "a.py") == []


def test_an_empty_file_may_be_renamed(change):
    assert found(change((b"a.py", b"", None), (b"b.py", None, b"")), "a.py") == []


@pytest.mark.parametrize(
    "files",
    [
        ((b"a.py", TEXT, None), (b"b.py", None, OTHER)),  # another file
        ((b"a.py", TEXT, None), (b"b.py", None, TEXT), (b"c.py", None, TEXT)),  # two of them
        ((b"a.py", TEXT, TEXT + b"x\n"), (b"b.py", None, TEXT)),  # a copy
        ((b"c.py", TEXT, None), (b"b.py", None, TEXT)),  # another one's rename
    ],
)
def test_what_is_no_rename_is_blocked(change, files):
    assert ("boundary.outside", "b.py") in found(change(*files), "a.py")


@pytest.mark.parametrize("mode", ["120000", "160000"])
def test_a_link_and_a_submodule_are_not_renamed_to_a_file(change, mode):
    difference = change((b"a", TEXT, None), (b"b.py", None, TEXT), old_mode=mode)
    assert found(difference, "a") == [("boundary.outside", "b.py")]


@pytest.mark.parametrize("lines", [b"\n", b"a\n"])
def test_no_file_is_compared_for_long(change, lines):
    size = 16 << 20
    old, new = lines * (size // len(lines)), b"x\n" + lines * (size // len(lines))
    difference = change((b"a.py", old, None), (b"b.py", None, new))
    began = time.process_time()
    assert found(difference, "a.py") == [("boundary.outside", "b.py")]
    assert time.process_time() - began < 3


def test_a_link_in_its_place_is_no_rename(change):
    difference = change((b"a.py", TEXT, None), (b"b.py", None, TEXT), new_mode="120000")
    assert found(difference, "a.py") == [("boundary.outside", "b.py")]


def test_one_that_breaks_lets_nothing_pass(change):
    broken = change((b"a.py", TEXT, None), (b"b.py", None, EDITED))
    broken.blobs.contents.clear()
    assert [finding.rule for finding in keeps_to(broken, ("a.py",), frozenset())] == [
        "boundary.failed"
    ]


def test_a_file_that_was_renamed_and_then_rewritten_is_still_that_file(change):
    step = change((b"a.py", TEXT, None), (b"b.py", None, TEXT))
    name = boundary.renamed(step, ("a.py",), frozenset())
    assert name == b"b.py"
    whole = change((b"a.py", TEXT, None), (b"b.py", None, OTHER))
    assert list(boundary.check(whole, ("a.py",), frozenset({name}))) == []
    kept = change((b"a.py", TEXT, OTHER), (b"b.py", None, OTHER))
    assert [each.path for each in boundary.check(kept, ("a.py",), frozenset({name}))] == ["b.py"]
    again = change((b"b.py", TEXT, None), (b"c.py", None, TEXT))
    assert boundary.renamed(again, ("a.py",), frozenset({name})) == b"c.py"
