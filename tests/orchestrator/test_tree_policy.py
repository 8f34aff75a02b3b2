from dataclasses import dataclass

import pytest

from orchestrator.guardrails.guardrail import Difference
from orchestrator.guardrails.tree import tree
from orchestrator.outcome import Finding, Verdict
from orchestrator.patch import Entry

NONE = "0" * 40
OLD = "1" * 40
NEW = "2" * 40


@dataclass(frozen=True)
class OneBlob:
    """Every blob is this one; its size may be a lie, as a pack can describe gigabytes."""

    content: bytes = b""
    pretended: int | None = None

    def size(self, blob: str) -> int:
        return len(self.content) if self.pretended is None else self.pretended

    def read(self, blob: str) -> bytes:
        assert self.pretended is None, "contents were read before their size was judged"
        return self.content


def added(path: bytes, mode: str = "100644") -> Entry:
    return Entry("A", "000000", mode, NONE, NEW, path)


def rules(*entries: Entry, blob: OneBlob = OneBlob(), **folders: tuple[bytes, ...]) -> set[str]:
    named = {folder.strip("_").encode(): names for folder, names in folders.items()}
    return {finding.rule for finding in tree(Difference(entries, blob, named))}


@pytest.mark.parametrize(
    "path",
    [
        b"a.txt",
        b".gitignore",
        b".github/x.yml",
        b"a b/c",
        "ü/日本.txt".encode(),
        b"a.b.c",
        b"git~x",
    ],
)
def test_honest_names_pass(path: bytes):
    assert rules(added(path)) == set()


@pytest.mark.parametrize(
    "path",
    [
        *(b"a\nb", b"a\tb", b"a\x7fb", b"a\x1b[31m", "a\u202eb".encode(), "a\u200bb".encode()),
        *("a\u00a0b".encode(), "a\ufe0fb".encode(), "a\u3164b".encode(), "a\U000e0041".encode()),
        *("e\u0301".encode(), b"\xff\xfe", b"-rf", b"d/-x", b"a\\b", b"a:b", b"C:/x"),
        *(b"con", b"AUX.txt", b"d/nul.tar.gz", b"com1", b"a.", b"a ", b"x./y", b"a//b", b"a/../b"),
        *(b"x" * 256, b"/".join([b"d"] * 65), b"/".join([b"d" * 250] * 17)),
    ],
)
def test_names_that_deceive_or_cannot_exist_are_blocked(path: bytes):
    assert rules(added(path)) == {"tree.bad-name"}


@pytest.mark.parametrize(
    "path",
    [
        *(b".git/config", b".GIT/config", b"d/.git", b".Git", b"git~1", b"GIT~12/x"),
        *(b".git./x", b".git /x", b".git::$INDEX_ALLOCATION/x", ".g\u200cit/x".encode()),
    ],
)
def test_names_that_git_keeps_are_blocked(path: bytes):
    assert "tree.git-name" in rules(added(path))


def test_a_bad_name_of_the_base_may_be_edited_and_deleted():
    edited = Entry("M", "100644", "100644", OLD, NEW, b"aux.c")
    deleted = Entry("D", "100644", "000000", OLD, NONE, b"a\nb")
    assert rules(edited, deleted) == set()


@pytest.mark.parametrize("target", [b"b", b"../b", b"./x/y", b"..", b"...", b"x//y"])
def test_links_inside_the_repository_pass(target: bytes):
    assert rules(added(b"d/l", "120000"), blob=OneBlob(target)) == set()


@pytest.mark.parametrize(
    "target",
    [
        *(b"/etc/passwd", b"../../x", b"../..", b"x/../../../y", b"x/..", b"", b"a\0b"),
        *(b"C:\\x", b"..\\x", b"C:/x", b"../.git/config", b".GIT", b"git~1/hooks"),
    ],
)
def test_links_that_may_leave_are_blocked(target: bytes):
    assert rules(added(b"d/l", "120000"), blob=OneBlob(target)) == {"tree.symlink-escape"}


def test_a_changed_link_is_judged_too():
    entry = Entry("M", "120000", "120000", OLD, NEW, b"l")
    assert rules(entry, blob=OneBlob(b"/etc")) == {"tree.symlink-escape"}


def test_a_link_with_an_endless_target_is_not_read():
    assert rules(added(b"l", "120000"), blob=OneBlob(pretended=5000)) == {"tree.symlink-escape"}


@pytest.mark.parametrize(
    "entry",
    [
        Entry("A", "000000", "160000", NONE, NEW, b"sub"),
        Entry("M", "160000", "160000", OLD, NEW, b"sub"),
        Entry("D", "160000", "000000", OLD, NONE, b"sub"),
        Entry("T", "160000", "100644", OLD, NEW, b"sub"),
    ],
)
def test_submodules_may_not_change(entry: Entry):
    finding = Finding(
        "tree.gitlink", Verdict.BLOCK, "sub", "a submodule was added, moved or removed"
    )
    assert tuple(tree(Difference((entry,), OneBlob()))) == (finding,)


def test_an_odd_mode_is_blocked():
    assert rules(added(b"a", "100664")) == {"tree.mode"}


def test_a_large_blob_is_blocked_unread():
    assert rules(added(b"a"), blob=OneBlob(pretended=(16 << 20) + 1)) == {"tree.size"}


def test_many_middling_blobs_are_blocked_together():
    entries = [added(b"a%d" % number) for number in range(17)]
    assert rules(*entries, blob=OneBlob(pretended=16 << 20)) == {"tree.size"}


def test_too_many_paths_are_blocked():
    assert rules(*(added(b"a%d" % number) for number in range(20_001))) == {"tree.count"}


def test_names_that_differ_by_case_are_blocked():
    assert rules(added(b"readme"), _=(b"README", b"readme")) == {"tree.case-collision"}


def test_folders_that_differ_by_case_are_blocked():
    folders = {"_": (b"SRC", b"src"), "src": (b"x",)}
    assert rules(added(b"src/x"), **folders) == {"tree.case-collision"}


def test_names_that_differ_by_more_than_case_pass():
    assert rules(added(b"a"), _=(b"a", b"b", b"B")) == set()


def test_a_folder_that_git_takes_for_a_repository_is_blocked():
    finding = Finding(
        "tree.nested-repository",
        Verdict.BLOCK,
        "x",
        "git would take this folder for a repository",
    )
    folders = {b"x": (b"HEAD", b"config", b"objects", b"refs")}
    assert tuple(tree(Difference((added(b"x/config"),), OneBlob(), folders))) == (finding,)
