"""The form of Codex-trained models: before/after pairs."""

import pytest

from tests.patched import patched

CODE = b"""\
class A:
    def run(self):
        x = 1
        return x


class B:
    def run(self):
        x = 1
        return x


def last():
    x = 1
"""
LOOKUPS = {
    "an anchor": (b"@@ class B:\n-        x = 1\n+        x = 2\n", [9]),
    "an anchor cut short": (b"@@ class B\n-        x = 1\n+        x = 2\n", [9]),
    "anchors in one another": (
        b"@@ class A\n@@     def run(self):\n-        x = 1\n+        x = 2\n",
        [3],
    ),
    "one after another": (
        b"@@ class A:\n-        x = 1\n+        x = 2\n@@\n-        x = 1\n+        x = 2\n",
        [3, 9],
    ),
    "no @@ before the first": (b" def last():\n-    x = 1\n+    x = 2\n", [14]),
    "numbers after all": (b"@@ -9,1 +9,1 @@\n-        x = 1\n+        x = 2\n", [9]),
    "the end of the file": (b"@@\n-    x = 1\n+    x = 2\n*** End of File\n", [14]),
}


def wrapped(inner):
    return b"*** Begin Patch\n" + inner + b"*** End Patch\n"


def update(inner):
    return wrapped(b"*** Update File: f\n" + inner)


@pytest.mark.parametrize(("hunks", "lines"), LOOKUPS.values(), ids=LOOKUPS)
def test_goes_where_its_lines_stand(hunks, lines):
    expected = CODE.split(b"\n")
    for number in lines:
        expected[number - 1] = expected[number - 1].replace(b"1", b"2")
    assert patched({"f": CODE}, update(hunks)) == {"f": b"\n".join(expected)}


PAIRS = {
    "lines added at the end": (b"a\n", b"@@\n+b\n*** End of File\n", b"a\nb\n"),
    "at an end without a line break": (b"a\nb", b"@@\n+c\n*** End of File\n", b"a\nb\nc"),
    "at an end with CRLF": (b"a\r\nb\r\n", b"@@\n+c\n*** End of File\n", b"a\r\nb\r\nc\r\n"),
    "into an empty file": (b"", b"@@\n+a\n", b"a\n"),
    "CRLF is kept": (b"a\r\nb\r\n", b"@@\n a\n-b\n+c\n", b"a\r\nc\r\n"),
    "a missing line break stays missing": (b"a\nb", b"@@\n a\n-b\n+c\n", b"a\nc"),
    "an empty line before the next marker": (b"a\nb\n", b"@@\n a\n-b\n+c\n\n", b"a\nc\n"),
    "markers that are lines of the file": (
        b"*** Begin Patch\n*** Update File: f\na\n*** End Patch\nb\n",
        b"@@\n *** Begin Patch\n *** Update File: f\n-a\n+A\n *** End Patch\n-b\n+B\n",
        b"*** Begin Patch\n*** Update File: f\nA\n*** End Patch\nB\n",
    ),
    "a Markdown heading as an anchor": (
        b"## A\ntext\n## B\ntext\n",
        b"@@ ## B\n-text\n+words\n",
        b"## A\ntext\n## B\nwords\n",
    ),
    "a block with its braces at the margin": (
        b"int f()\n{\n\tx;\n}\nint g(\n\tint a\n)\n{\n\tx;\n}\nint h()\n{\n\tx;\n}\n",
        b"@@ int g(\n-\tx;\n+\ty;\n",
        b"int f()\n{\n\tx;\n}\nint g(\n\tint a\n)\n{\n\ty;\n}\nint h()\n{\n\tx;\n}\n",
    ),
}


@pytest.mark.parametrize(("before", "hunks", "after"), PAIRS.values(), ids=PAIRS)
def test_pairs(before, hunks, after):
    assert patched({"f": before}, update(hunks)) == {"f": after}


def test_files_come_go_and_move():
    patch = wrapped(b"""\
*** Add File: sub/new.txt
+one
+
+*** Begin Patch
*** End of File
*** Update File: old.txt
*** Move to: sub/moved.txt
@@
-a
+b
*** Update File: /workspace/plain.txt
*** Move to: /workspace/elsewhere.txt
*** Delete File: gone.txt

*** Add File: empty.txt
""")
    files = {"old.txt": b"a\n", "plain.txt": b"p", "gone.txt": b"whatever\xff"}
    assert patched(files, patch) == {
        "sub/new.txt": b"one\n\n*** Begin Patch\n",
        "sub/moved.txt": b"b\n",
        "elsewhere.txt": b"p",
        "empty.txt": b"",
    }


def test_a_file_may_be_named_again_for_its_next_hunk():
    patch = wrapped(
        b"*** Update File: f\n@@\n-c\n+C\n*** Update File: g\n@@\n-a\n+A\n"
        b"*** Update File: f\n@@\n-a\n+A\n"
    )
    assert patched({"f": b"a\nb\nc\n", "g": b"a\n"}, patch) == {"f": b"A\nb\nC\n", "g": b"A\n"}


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (b"```\n", b"```\n"),
        (b"Here is the patch:\n", b"That is all.\n"),
        (b"apply_patch <<'EOF'\n", b"EOF\n"),
    ],
)
def test_what_stands_round_a_patch_is_not_the_patch(above, below):
    assert patched({"f": b"a\n"}, above + update(b"@@\n-a\n+b\n") + below) == {"f": b"b\n"}
