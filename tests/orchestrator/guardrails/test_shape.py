"""Modes and kinds of content."""

import pytest

from orchestrator.guardrails import shape
from orchestrator.guardrails.guardrail import Difference
from orchestrator.patch import Entry

NOTHING, FILE, PROGRAM, LINK = "000000", "100644", "100755", "120000"


class Text:
    """Blobs that are all the same harmless text."""

    def size(self, blob):
        return 2

    def read(self, blob):
        return b"x\n"


def found(difference):
    return [(f.rule, f.verdict) for f in shape.check(difference)]


def from_to(old, new):
    return Difference((Entry("M", old, new, "a" * 40, "b" * 40, b"path"),), Text())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (NOTHING, FILE, []),
        (FILE, FILE, []),
        (FILE, NOTHING, []),
        (PROGRAM, PROGRAM, []),
        (PROGRAM, FILE, []),
        (FILE, PROGRAM, [("shape.executable", "review")]),
        (NOTHING, PROGRAM, [("shape.executable", "review")]),
        (NOTHING, LINK, [("shape.symlink", "review")]),
        (FILE, LINK, [("shape.symlink", "review")]),
        (LINK, LINK, [("shape.symlink", "review")]),
        (LINK, FILE, [("shape.type", "review")]),
        (LINK, NOTHING, []),
    ],
)
def test_modes(old, new, expected):
    assert found(from_to(old, new)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n\0", [("shape.binary", "review")]),
        (b"x" * 7999 + b"\0", [("shape.binary", "review")]),
        (b"x" * 8000 + b"\0", []),
        (b"\x7fELF\x02\x01\x01\0", [("shape.program", "block")]),
        (b"MZ\x90\0", [("shape.program", "block")]),
        (b"\xca\xfe\xba\xbe\0", [("shape.program", "block")]),
        (b"\0asm\x01\0\0\0", [("shape.program", "block")]),
        (b"MZ is how such files begin\n", []),
    ],
)
def test_content(change, content, expected):
    assert found(change((b"a", None, content))) == expected


def test_taking_binary_content_away_is_fine(change):
    assert found(change((b"a", b"\0", None))) == []
