"""apply_patch in a real sandbox: every file or none, and what is told of it."""

import time

import pytest

from orchestrator.tools.patching import apply_patch
from orchestrator.tools.tool import Context, ToolError
from sandbox.files import FileError

V4A = """\
*** Begin Patch
*** Update File: src/app.py
@@ def add(a, b):
-    return a - b
+    return a + b
*** Update File: old.txt
*** Move to: docs/new.txt
*** Add File: notes.txt
+one
+two
*** Delete File: gone.txt
*** End Patch
"""
FILES = {
    "src/app.py": b"def add(a, b):\r\n    return a - b\r\n",
    "old.txt": b"\xff\n",
    "gone.txt": b"x\n",
    "kept.txt": b"k",
}


@pytest.fixture
def context(workspace, tmp_path):
    return Context(workspace.box, tmp_path, "step-1-call-1", time.monotonic() + 60, print)


def listing(workspace):
    """Names, kinds, modes and contents of all that is there."""
    script = "find . -printf '%P %y %m\\n' | sort; find . -type f | sort | xargs -r sha256sum"
    return workspace.box.run(["sh", "-c", script]).stdout


def test_every_file_is_told_in_a_line(context, workspace):
    workspace.fill(FILES)
    assert apply_patch(context, V4A) == (
        "src/app.py changed, +1 -1\n"
        "old.txt renamed to docs/new.txt, +0 -0\n"
        "notes.txt added, +2 -0\n"
        "gone.txt deleted, +0 -1"
    )
    assert workspace.tree() == {
        "src/app.py": b"def add(a, b):\r\n    return a + b\r\n",
        "docs/new.txt": b"\xff\n",
        "notes.txt": b"one\ntwo\n",
        "kept.txt": b"k",
    }


def test_modes_are_kept_and_changed(context, workspace):
    workspace.fill({"keep": b"a\n", "run": b"a\n", "stop": b"a\n"})
    workspace.box.run(["chmod", "750", "keep", "stop"])
    workspace.box.run(["chmod", "640", "run"])
    patch = """\
diff --git a/keep b/moved
rename from keep
rename to moved
--- a/keep
+++ b/moved
@@ -1 +1 @@
-a
+b
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/stop b/stop
old mode 100755
new mode 100644
diff --git a/new b/new
new file mode 100755
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+#!/bin/sh
"""
    assert apply_patch(context, patch) == (
        "keep renamed to moved, +1 -1\n"
        "run changed, +0 -0, now executable\n"
        "stop changed, +0 -0, now not executable\n"
        "new added, +1 -0"
    )
    gathered = workspace.box.files.gather(["moved", "run", "stop", "new"])
    assert [kept.mode for kept in gathered] == [0o750, 0o750, 0o640, 0o755]


def test_a_name_that_is_not_utf8(context, workspace):
    workspace.box.run(["sh", "-c", "echo a > \"$(printf '\\377')\""])
    patch = '--- "a/\\377"\n+++ "b/\\377"\n@@ -1 +1 @@\n-a\n+b\n'
    assert apply_patch(context, patch) == "\\xff changed, +1 -1"
    assert workspace.box.files.read("\udcff") == b"b\n"


REFUSED = {
    "a hunk that does not fit": V4A.replace("a - b", "a * b"),
    "a file that is there": V4A.replace("notes.txt", "kept.txt"),
    "a file that is not there": V4A.replace("gone.txt", "missing.txt"),
    "no end": V4A.replace("*** End Patch\n", ""),
    "outside": V4A.replace("notes.txt", "../notes.txt"),
}


@pytest.mark.parametrize("patch", REFUSED.values(), ids=REFUSED)
def test_a_refused_patch_changes_nothing(context, workspace, patch):
    workspace.fill(FILES)
    before = listing(workspace)
    with pytest.raises(ToolError, match=r"\nNothing was changed\.$"):
        apply_patch(context, patch)
    assert listing(workspace) == before


@pytest.mark.parametrize(
    ("since", "reason"),
    [
        ("rm old.txt; ln -s kept.txt old.txt", "old.txt is a symbolic link"),
        ("mv src real; ln -s real src", "src is a symbolic link"),
        ("ln -s . docs", "docs is a symbolic link"),
        ("mkdir notes.txt", "notes.txt is not a regular file"),
        ("chmod 555 src", "src/app.py: Permission denied; nothing was changed"),
        ("echo > docs", "docs"),
    ],
)
def test_what_the_sandbox_does_not_allow_changes_nothing(context, workspace, since, reason):
    workspace.fill(FILES)
    workspace.box.run(["sh", "-c", since])
    before = listing(workspace)
    with pytest.raises(FileError, match=reason):
        apply_patch(context, V4A)
    assert listing(workspace) == before
    workspace.box.run(["chmod", "755", "src"])
