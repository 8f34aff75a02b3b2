"""What is refused, and what is said of it: each message tells how to do better."""

import pytest

from tests.patched import refused

HEAD = b"--- a/f\n+++ b/f\n"
TWICE = b"def f():\n    return x\n\n\ndef g():\n    return x\n"
V4A = b"*** Begin Patch\n*** Update File: f\n%s*** End Patch\n"

MISPLACED = {
    "not there: the nearest lines": (
        b"import os\n\ndef add(a, b):\n    return a - b\n",
        HEAD + b"@@ -3,2 +3,2 @@\n def add(a, b):\n-  return a + b\n+    return b\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines do not stand in the file "
        "like this; copy them exactly, with their indentation. Nearest lines:\n"
        "     3\tdef add(a, b):\n"
        "     4\t    return a - b",
    ),
    "another indentation is not the same line": (
        b"    a\n",
        HEAD + b"@@ -1 +1 @@\n-a\n+b\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines do not stand in the file "
        "like this; copy them exactly, with their indentation. Nearest lines:\n     1\t    a",
    ),
    "several places": (
        TWICE,
        HEAD + b"@@\n-    return x\n+    return y\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines stand at lines 2, 6; add "
        "context until they stand only once.",
    ),
    "a stale number does not choose between two": (
        TWICE,
        HEAD + b"@@ -4 +4 @@\n-    return x\n+    return y\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines stand at lines 2, 6; add "
        "context until they stand only once.",
    ),
    "overlapping places": (
        b"a\na\na\n",
        HEAD + b"@@\n-a\n-a\n+b\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines stand at lines 1, 2; add "
        "context until they stand only once.",
    ),
    "nothing to find": (
        b"a\n",
        HEAD + b"@@ -1,0 +2 @@\n+b\n",
        "f: hunk 1 (line 3 of the patch): it only adds lines and shows none around them, so where "
        "they go is a guess; add lines of context.",
    ),
    "only context": (
        b"a\n",
        HEAD + b"@@ -1 +1 @@\n a\n",
        "f: hunk 1 (line 3 of the patch): it neither removes nor adds a line.",
    ),
    "the same place twice": (
        b"a\nb\n",
        HEAD + b"@@ -1,2 +1,2 @@\n-a\n-b\n+c\n@@ -2 +2 @@\n-b\n+d\n",
        "f: hunk 1 (line 3 of the patch) and hunk 2 (line 7 of the patch) change the same place; "
        "join them.",
    ),
    "two additions at one place": (
        b"a\nb\n",
        HEAD + b"@@ -1 +1,2 @@\n a\n+x\n@@ -1 +1,2 @@\n a\n+y\n",
        "f: hunk 1 (line 3 of the patch) and hunk 2 (line 6 of the patch) change the same place; "
        "join them.",
    ),
    "an end that is none": (
        b"a\nb\n",
        HEAD + b"@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n",
        r"f: `\ No newline at end of file` stands before the end of the file.",
    ),
    "a line break that the patch says is not there": (
        b"a\nb\n",
        HEAD + b"@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines do not stand in the file "
        "like this; copy them exactly, with their indentation. Nearest lines:\n     2\tb",
    ),
    "characters that stand for other bytes": (
        b"caf\xe9 \xe9\n",
        HEAD + "@@ -1 +1 @@\n-caf\ufffd \ufffd\n+caf\ufffd\n".encode(),
        "f: hunk 1 (line 3 of the patch): an added line holds U+FFFD, which stands for bytes of "
        "the file that are not UTF-8; change such a line with a command.",
    ),
    "LF where the patch says CRLF": (
        b"a\n",
        HEAD + b"@@ -1 +1 @@\n-a\r\n+b\r\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines do not stand in the file "
        "like this; copy them exactly, with their indentation. Nearest lines:\n     1\ta",
    ),
    "an anchor that is not there": (
        TWICE,
        V4A % b"@@ def h():\n-    return x\n+    return y\n",
        "f: hunk 1 (line 3 of the patch): there is no line `def h():`. Nearest lines:\n"
        "     1\tdef f():",
    ),
    "below the wrong anchor": (
        TWICE.replace(b"x", b"y", 1),
        V4A % b"@@ def f():\n-    return x\n+    return z\n",
        "f: hunk 1 (line 3 of the patch): it stands at line 6, but not below its @@ line.",
    ),
    "an anchor that stands twice": (
        TWICE + TWICE,
        V4A % b"@@ def f():\n-    return x\n+    return y\n",
        "f: hunk 1 (line 3 of the patch): its context and removed lines stand at lines 2, 8; add "
        "context until they stand only once.",
    ),
    "not at the end": (
        b"a\nb\n",
        V4A % b"@@\n-a\n+x\n*** End of File\n",
        "f: hunk 1 (line 3 of the patch): it stands at line 1, not at the end of the file, which "
        "has 2 lines; leave *** End of File out.",
    ),
}


@pytest.mark.parametrize(("before", "patch", "message"), MISPLACED.values(), ids=MISPLACED)
def test_a_hunk_without_one_place(before, patch, message):
    assert refused({"f": before}, patch) == message


def test_all_that_is_wrong_is_said_at_once():
    patch = HEAD + b"@@ -1 +1 @@\n-x\n+y\n@@ -2 +2 @@\n-z\n+y\n"
    patch += b"--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n"
    said = refused({"f": b"1\n2\n"}, patch).splitlines()
    assert [line.partition(": its")[0] for line in said] == [
        "f: hunk 1 (line 3 of the patch)",
        "hunk 2 (line 6 of the patch)",
        "g: there is no such file.",
    ]


NEW = b"--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n"
FILES = {
    "missing": (b"--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "g: there is no such file."),
    "there already": (NEW % b"f", "f: f exists already; it is never overwritten."),
    "there already, other form": (
        b"*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n",
        "f: f exists already; it is never overwritten.",
    ),
    "renamed over another": (
        b"diff --git a/f b/e\nrename from f\nrename to e\n",
        "f: e exists already; it is never overwritten.",
    ),
    "moved over another": (
        b"*** Begin Patch\n*** Update File: f\n*** Move to: e\n*** End Patch\n",
        "f: e exists already; it is never overwritten.",
    ),
    "new, but with context": (
        b"--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n x\n+y\n",
        "n: a new file has only added lines; this shows others, too.",
    ),
    "gone, but not all of it": (
        b"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "f: the file goes, but the patch does not remove all of its lines.",
    ),
    "nothing changes": (
        b"*** Begin Patch\n*** Update File: f\n*** End Patch\n",
        "f: nothing is said to change in it.",
    ),
    "twice": (
        b"*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n*** End Patch\n",
        "line 3 of the patch: f is changed twice; say all of a file at once",
    ),
    "a file where a folder has to be": (
        (NEW % b"n") + (NEW % b"n/x"),
        "git apply: error: unable to add cache entry for n/x",
    ),
    "what is a git folder elsewhere": (
        NEW % b"git~1/x",
        "git apply: error: invalid path 'git~1/x'",
    ),
}


@pytest.mark.parametrize(("patch", "message"), FILES.values(), ids=FILES)
def test_files_that_do_not_allow_it(patch, message):
    assert refused({"f": b"a\nb\n", "e": b"e\n"}, patch) == message


PLAIN = "is no plain path: write it relative to /workspace, without . and .."
PATHS = {
    b"/etc/passwd": "is not below /workspace",
    b"/workspacex/f": "is not below /workspace",
    b"../f": PLAIN,
    b"a/../../f": PLAIN,
    b"a//f": PLAIN,
    b"": PLAIN,
    b".git/config": "belongs to git itself, which is not patched",
    b"sub/.GIT/config": "belongs to git itself, which is not patched",
}


@pytest.mark.parametrize(("path", "problem"), PATHS.items(), ids=repr)
def test_paths_that_lead_elsewhere(path, problem):
    quoted = b'"b/' + path + b'"'
    message = f"line 1 of the patch: {path.decode()!r} {problem}"
    assert refused({}, NEW.replace(b"b/%s", b"%s") % quoted) == message
    if path:
        added = b"*** Begin Patch\n*** Add File: " + path + b"\n+x\n*** End Patch\n"
        assert refused({}, added) == message.replace("line 1", "line 2")


FORMS = {
    "no patch": (
        b"Please change f.\n",
        "this is no patch: it has neither `diff --git`, nor `--- a/PATH` with `+++ b/PATH` and "
        "`@@` below, nor `*** Begin Patch`",
    ),
    "no file": (
        b"@@ -1 +1 @@\n-a\n+b\n",
        "the patch names no file: put --- a/PATH and +++ b/PATH above its first @@",
    ),
    "a line without a mark": (
        HEAD + b"@@ -1,2 +1,2 @@\n-a\n+x\nb\n+c\n",
        "line 6 of the patch begins with neither a space, nor -, nor +: 'b'",
    ),
    "prose after, and nothing tells where the patch ends": (
        HEAD + b"@@\n-a\n+x\nThat is all.\n",
        "line 6 of the patch begins with neither a space, nor -, nor +: 'That is all.'",
    ),
    "half a header": (
        HEAD + b"@@ -1,2 @@\n-a\n+x\n",
        "line 3 of the patch: '@@ -1,2 @@' is not `@@ -1,2 +1,3 @@`; leave the numbers out if you "
        "do not know them: `@@`",
    ),
    "no @@": (
        b"diff --git a/f b/f\n" + HEAD + b"-a\n+x\n",
        "line 4 of the patch: expected @@, found '-a'",
    ),
    "a hunk before its file": (
        b"@@ -1 +1 @@\n-a\n+b\n" + HEAD + b"@@ -1 +1 @@\n-a\n+b\n",
        "line 1 of the patch: a hunk before any file's header",
    ),
    "two names": (
        b"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+x\n",
        "line 1 of the patch names two files, f and g; a rename has the lines `rename from` and "
        "`rename to`",
    ),
    "two names in one header": (
        b"diff --git a/f b/f\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+x\n",
        "line 1 of the patch begins a file that the lines below name otherwise",
    ),
    "two names in a rename": (
        b"diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/h\n@@\n-a\n+x\n",
        "line 1 of the patch begins a file that the lines below name otherwise",
    ),
    "counts that are reached before an empty line and more": (
        HEAD + b"@@ -1 +1 @@\n-a\n+x\n\n+ and more\n",
        "line 6 of the patch: the hunk ends here by its counts, but more lines follow; correct its "
        "header or leave the numbers out: `@@`",
    ),
    "nowhere": (
        b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+x\n",
        "line 1 of the patch: names no file on either side",
    ),
    "a link": (
        b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n",
        "line 1 of the patch: mode 120000 is not that of a file; make links and submodules with a "
        "command",
    ),
    "a copy": (
        b"diff --git a/f b/n\nsimilarity index 100%\ncopy from f\ncopy to n\n",
        "line 1 of the patch: add a copy as a new file",
    ),
    "binary": (
        b"diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ?\n",
        "line 3 of the patch: binary contents cannot be patched",
    ),
    "two fences": (
        b"```\n" + HEAD + b"@@\n-a\n+b\n```\n```\n" + HEAD + b"@@\n-b\n+c\n```\n",
        "line 14 of the patch is a code fence that does not hold the whole patch; send the patch "
        "without fences",
    ),
    "half a fence": (
        b"```diff\n" + HEAD + b"@@\n-a\n+b\n",
        "line 1 of the patch is a code fence that does not hold the whole patch; send the patch "
        "without fences",
    ),
    "cut off": (
        b"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n",
        "the patch has no *** End Patch; it may have been cut off",
    ),
    "two patches": (
        2 * b"*** Begin Patch\n*** Delete File: f\n*** End Patch\n",
        "there is more than one *** Begin Patch; send one patch a call",
    ),
    "an empty patch": (b"*** Begin Patch\n*** End Patch\n", "the patch changes no file"),
    "something else inside": (
        b"*** Begin Patch\n--- a/f\n*** End Patch\n",
        "line 2 of the patch: expected *** Add File, *** Update File or *** Delete File, found "
        "'--- a/f'",
    ),
    "a new file's line without +": (
        b"*** Begin Patch\n*** Add File: n\n+a\nb\n*** End Patch\n",
        "line 4 of the patch: every line of a new file begins with +, found 'b'",
    ),
    "a body for a file that goes": (
        b"*** Begin Patch\n*** Delete File: f\n-a\n*** End Patch\n",
        "line 3 of the patch: nothing follows *** Delete File",
    ),
}


@pytest.mark.parametrize(("patch", "message"), FORMS.values(), ids=FORMS)
def test_texts_that_are_no_patch(patch, message):
    assert refused({"f": b"a\n"}, patch) == message
