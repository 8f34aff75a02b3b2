from pathlib import Path

import pytest

from orchestrator.patch import (
    Count,
    Entry,
    FilePatch,
    Hunk,
    parse_numstat,
    parse_raw,
    parse_unified,
)
from tests.exchange import Exchange, git

A, B, NONE = "a" * 40, "b" * 40, "0" * 40
RAW = f":100644 100755 {A} {B} M\0a b\0:000000 120000 {NONE} {B} A\0x\ny\xff\0".encode("latin-1")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_raw_output_is_read_however_it_is_cut(size: int):
    pieces = [RAW[at : at + size] for at in range(0, len(RAW), size)]
    assert list(parse_raw(pieces)) == [
        Entry("M", "100644", "100755", A, B, b"a b"),
        Entry("A", "000000", "120000", NONE, B, b"x\ny\xff"),
    ]


def test_a_name_that_is_not_utf8_can_be_shown():
    assert Entry("M", "", "", A, B, b"a\xff").name == "a\\xff"


def test_numstat_is_read():
    output = b"1\t2\ta\tb\0-\t-\tbin\0"
    assert parse_numstat(output) == (Count(b"a\tb", 1, 2), Count(b"bin", 0, 0))


def test_a_patch_becomes_files_and_hunks(exchange: Exchange):
    change = exchange.admit({b"a.txt": ("100644", b"one\n2\n\n")})
    patch = exchange.quarantine.diff(exchange.base.commit, change.commit)
    hunk = Hunk(1, 2, 1, 3, (" one", "-two", "+2", "+"))
    assert parse_unified(patch) == (FilePatch("a.txt", (hunk,), 2, 1),)


ODD = {
    b"a b/c d": b"x\n",
    b'quo"te': b"no end",
    b"tab\there": b"a\r\nb\rc\n",
    b"x b/x": b"\x0c\xe2\x80\xa8\x85\n--- a\n+++ b\n",
    b"\xff\xfe": b"\xff\0\n@@ -1 +1 @@\ndiff --git a/x b/x\n",
    b"back\\slash": b"",
    "ünï".encode(): b"-- x\n",
}


def test_odd_names_and_lines_are_shown_and_counted_as_git_does(exchange: Exchange):
    change = exchange.admit({path: ("100644", content) for path, content in ODD.items()})
    between = (exchange.base.commit, change.commit)
    shown = parse_unified(exchange.quarantine.diff(*between))
    counts = exchange.quarantine.numstat(*between)
    assert [(file.name.encode(), file.added, file.removed) for file in shown] == [
        (count.path.decode("utf-8", "backslashreplace").encode(), count.added, count.removed)
        for count in counts
    ]
    assert {count.path for count in counts} == set(ODD)


def test_every_kind_of_change_applies_to_exactly_the_new_tree(exchange: Exchange, tmp_path: Path):
    before = exchange.admit(
        {
            b"del": ("100644", b"x"),
            b"mode": ("100644", b"x"),
            b"type": ("100644", b"x"),
            b"bin": ("100644", bytes(range(256))),
        }
    )
    change = exchange.admit(
        {
            b"del": None,
            b"mode": ("100755", b"x"),
            b"type": ("120000", b"a.txt"),
            b"bin": ("100644", bytes(range(255, -1, -1))),
            b"empty": ("100755", b""),
        },
        before.commit,
    )
    patch = exchange.quarantine.diff(before.commit, change.commit)
    inside = exchange.inside.path
    git(inside, "read-tree", before.tree)
    git(inside, "apply", "--check", "--cached", stdin=patch)
    git(inside, "apply", "--cached", stdin=patch)
    assert git(inside, "write-tree").decode().strip() == change.tree
    assert [file.name for file in parse_unified(patch)] == [
        "bin",
        "del",
        "empty",
        "mode",
        "type",
        "type",
    ]


def test_no_change_is_an_empty_patch(exchange: Exchange):
    assert exchange.quarantine.diff(exchange.base.commit, exchange.base.commit) == b""
    assert parse_unified(b"") == ()
