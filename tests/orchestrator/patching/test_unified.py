"""Unified diffs: before/after pairs, in what git writes and in what models write."""

import pytest

from orchestrator.patching.trial import Blob
from tests.patched import patched, patched_blobs

HEAD = b"--- a/f\n+++ b/f\n"
PAIRS = {
    "one line": (b"a\nb\nc\n", b"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", b"a\nB\nc\n"),
    "two hunks": (
        b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        b"@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -8,2 +8,3 @@\n 8\n 9\n+ten\n",
        b"one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n",
    ),
    "only removed": (b"a\nb\n", b"@@ -1,2 +1,1 @@\n a\n-b\n", b"a\n"),
    "to nothing": (b"a\n", b"@@ -1 +0,0 @@\n-a\n", b""),
    "from nothing": (b"", b"@@ -0,0 +1 @@\n+a\n", b"a\n"),
    "stale line number, unique lines": (
        b"x\n" * 40 + b"a\nb\nc\n",
        b"@@ -3,3 +3,3 @@\n a\n-b\n+B\n c\n",
        b"x\n" * 40 + b"a\nB\nc\n",
    ),
    "lines that stand twice, at the stated line": (
        b"a\nb\na\nb\n",
        b"@@ -3,2 +3,2 @@\n a\n-b\n+B\n",
        b"a\nb\na\nB\n",
    ),
    "no numbers at all": (b"a\nb\n", b"@@\n a\n-b\n+B\n", b"a\nB\n"),
    "dots for numbers": (b"a\nb\n", b"@@ ... @@\n a\n-b\n+B\n", b"a\nB\n"),
    "counts too small": (
        b"a\nb\nc\nd\n",
        b"@@ -1,2 +1,2 @@\n a\n-b\n+B\n c\n d\n",
        b"a\nB\nc\nd\n",
    ),
    "counts too large": (b"a\nb\nc\n", b"@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", b"a\nB\nc\n"),
    "an empty line of context without its space": (
        b"a\n\nb\n",
        b"@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n",
        b"a\n\nB\n",
    ),
    "hunks that show the same context": (
        b"a\nb\nc\n",
        b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n",
        b"A\nb\nC\n",
    ),
    "hunks out of order": (
        b"a\nb\nc\nd\n",
        b"@@ -4 +4 @@\n-d\n+D\n@@ -1 +1 @@\n-a\n+A\n",
        b"A\nb\nc\nD\n",
    ),
    "the end stays without a line break": (
        b"a\nb",
        b"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n"
        b"+B\n\\ No newline at end of file\n",
        b"a\nB",
    ),
    "the end gets a line break": (
        b"a\nb",
        b"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
        b"a\nb\n",
    ),
    "wrong counts before a mail's signature": (
        b"a\nb\n",
        b"@@ -1,9 +1,9 @@\n a\n-b\n+B\n-- \n2.39.5\n\n",
        b"a\nB\n",
    ),
    "the end gets a line break as the others have": (
        b"a\r\nb",
        b"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n",
        b"a\r\nc\r\n",
    ),
    "the end loses its line break": (
        b"a\nb\n",
        b"@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
        b"a\nb",
    ),
    "a missing line break that the patch does not mention": (
        b"a\nb",
        b"@@ -1,2 +1,2 @@\n a\n-b\n+B\n",
        b"a\nB",
    ),
    "lines after a last one without a line break": (
        b"a\nb",
        b"@@ -1,2 +1,3 @@\n a\n b\n+c\n",
        b"a\nb\nc",
    ),
    "CRLF, as git writes it": (
        b"a\r\nb\r\n",
        b"@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n",
        b"a\r\nB\r\n",
    ),
    "CRLF, as models write it": (
        b"a\r\nb\r\n",
        b"@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n",
        b"a\r\nB\r\nc\r\n",
    ),
    "CRLF, the last line without": (
        b"a\r\nb",
        b"@@ -1,2 +1,3 @@\n a\n b\n+c\n",
        b"a\r\nb\r\nc",
    ),
    "from CRLF to LF": (
        b"a\r\nb\r\n",
        b"@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n",
        b"a\nb\r\n",
    ),
    "mixed endings: that of the place": (
        b"a\nb\r\nc\n",
        b"@@ -2,1 +2,2 @@\n b\n+x\n",
        b"a\nb\r\nx\r\nc\n",
    ),
    "a byte order mark that the patch does not show": (
        b"\xef\xbb\xbfa\nb\n",
        b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
        b"\xef\xbb\xbfA\nb\n",
    ),
    "a line before a byte order mark": (
        b"\xef\xbb\xbfa\n",
        b"@@ -1 +1,2 @@\n+x\n a\n",
        b"\xef\xbb\xbfx\na\n",
    ),
    "a byte order mark as git shows it": (
        b"\xef\xbb\xbfa\n",
        b"@@ -1 +1 @@\n-\xef\xbb\xbfa\n+a\n",
        b"a\n",
    ),
    "a word joiner in a later line stays": (
        b"\xef\xbb\xbfa\n\xef\xbb\xbfb\nc\n",
        b"@@ -1,3 +1,3 @@\n-a\n+A\n \xef\xbb\xbfb\n c\n",
        b"\xef\xbb\xbfA\n\xef\xbb\xbfb\nc\n",
    ),
    "Latin-1 in context": (b"\xe9\nb\n", b"@@ -1,2 +1,2 @@\n \xe9\n-b\n+B\n", b"\xe9\nB\n"),
    "Latin-1 as reading shows it": (
        b"caf\xe9\nb\n",
        "@@ -1,2 +1,2 @@\n caf\ufffd\n-b\n+B\n".encode(),
        b"caf\xe9\nB\n",
    ),
    "form feed, CR, NUL and line separators end no line": (
        b"a\x0cb\rc\0\xe2\x80\xa8d\nx\n",
        b"@@ -1,2 +1,2 @@\n a\x0cb\rc\0\xe2\x80\xa8d\n-x\n+y\n",
        b"a\x0cb\rc\0\xe2\x80\xa8d\ny\n",
    ),
    "lines that look like headers": (
        b"-- a/x\n++ b/x\n",
        b"@@ -1,2 +1,1 @@\n--- a/x\n ++ b/x\n",
        b"++ b/x\n",
    ),
}
ROUND = {
    "prose before": (b"Here is the patch:\n\n", b""),
    "a Markdown fence": (b"Here it is.\n```diff\n", b"```\nThat is all.\n"),
    "a mail's signature": (b"From: x\n\nSubject\n---\n f | 2 +-\n", b"-- \n2.39.5\n\n"),
    "prose after, where the counts tell the end": (b"", b"\nThat is all.\n"),
    "empty lines after": (b"", b"\n\n"),
    "Subversion's line": (b"Index: f\n=====\n", b""),
    "diff's own line": (b"diff -u a/f b/f\n", b""),
}


@pytest.mark.parametrize(("before", "hunks", "after"), PAIRS.values(), ids=PAIRS)
def test_goes_where_its_lines_stand(before, hunks, after):
    assert patched({"f": before}, HEAD + hunks) == {"f": after}


@pytest.mark.parametrize(("above", "below"), ROUND.values(), ids=ROUND)
def test_what_stands_round_a_patch_is_not_the_patch(above, below):
    patch = HEAD + b"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    assert patched({"f": b"a\nb\nc\n"}, above + patch + below) == {"f": b"a\nB\nc\n"}


def test_a_patch_that_is_itself_crlf():
    patch = (HEAD + b"@@ -1,2 +1,2 @@\n a\n-b\n+B\n").replace(b"\n", b"\r\n")
    assert patched({"f": b"a\nb\n"}, patch) == {"f": b"a\nB\n"}
    assert patched({"f": b"a\r\nb\r\n"}, patch) == {"f": b"a\r\nB\r\n"}


NAMES = {
    "no prefix": b"--- f\n+++ f\n",
    "dates": b"--- a/f\t2026-01-01 00:00:00\n+++ b/f\t2026-01-02 00:00:00\n",
    "quoted": b'--- "a/\\146"\n+++ "b/\\146"\n',
    "absolute": b"--- /workspace/f\n+++ /workspace/f\n",
    "git's header": b"diff --git a/f b/f\nindex 1234567..89abcde 100644\n--- a/f\n+++ b/f\n",
    "other letters": b"--- i/f\n+++ w/f\n",
    "here": b"--- ./f\n+++ ./f\n",
}


@pytest.mark.parametrize("head", NAMES.values(), ids=NAMES)
def test_names(head):
    assert patched({"f": b"a\n"}, head + b"@@ -1 +1 @@\n-a\n+b\n") == {"f": b"b\n"}


def test_a_folder_called_like_a_prefix():
    patch = b"--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n"
    assert patched({"a/f": b"a\n", "f": b"a\n"}, patch) == {"a/f": b"b\n", "f": b"a\n"}
    new = b"diff --git b/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n"
    assert patched({}, new) == {"b/n": b"a\n"}


def test_a_name_with_spaces_quotes_and_umlauts():
    patch = (
        b'diff --git "a/\\303\\244 \\"b\\"" "b/\\303\\244 \\"b\\""\n'
        b'--- "a/\\303\\244 \\"b\\""\n+++ "b/\\303\\244 \\"b\\""\n@@ -1 +1 @@\n-a\n+b\n'
    )
    assert patched({'ä "b"': b"a\n"}, patch) == {'ä "b"': b"b\n"}


def test_files_come_go_and_move():
    files = {"gone": b"a\n", "empty": b"", "old name": b"1\n2\n3\n", "kept": b"k\n"}
    patch = b"""\
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/empty b/empty
deleted file mode 100644
diff --git a/old name b/sub/new name
similarity index 60%
rename from old name
rename to sub/new name
--- a/old name\t
+++ b/sub/new name\t
@@ -1,3 +1,3 @@
 1
-2
+two
 3
diff --git a/fresh b/fresh
new file mode 100644
--- /dev/null
+++ b/fresh
@@ -0,0 +1 @@
+x
diff --git a/blank b/blank
new file mode 100644
index 0000000..e69de29
"""
    expected = {"kept": b"k\n", "sub/new name": b"1\ntwo\n3\n", "fresh": b"x\n", "blank": b""}
    assert patched(files, patch) == expected


def test_modes():
    files = {b"run": Blob(b"a\n", False), b"text": Blob(b"a\n", True)}
    patch = b"""\
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/text b/text
old mode 100755
new mode 100644
--- a/text
+++ b/text
@@ -1 +1 @@
-a
+b
diff --git a/new b/new
new file mode 100755
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+#!/bin/sh
"""
    assert patched_blobs(files, patch) == {
        b"run": Blob(b"a\n", True),
        b"text": Blob(b"b\n", False),
        b"new": Blob(b"#!/bin/sh\n", True),
    }


def test_attributes_of_the_files_count_for_nothing():
    files = {".gitattributes": b"* text eol=crlf working-tree-encoding=UTF-16\n", "f": b"a\n"}
    patch = HEAD + b"@@ -1 +1 @@\n-a\n+b\n--- a/.gitattributes\n+++ b/.gitattributes\n"
    patch += b"@@ -1 +1,2 @@\n * text eol=crlf working-tree-encoding=UTF-16\n+* ident\n"
    assert patched(files, patch)["f"] == b"b\n"
