"""All guardrails together."""

from pathlib import Path

from orchestrator.guardrails import protected, table, unicode
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict, worst
from orchestrator.settings import Policy


class Broken:
    """Blobs that cannot be read."""

    def size(self, blob):
        return 1

    def read(self, blob):
        raise OSError("the disk is gone")


class Counting:
    """Blobs that count how often each is read."""

    def __init__(self, blobs):
        self.blobs, self.reads = blobs, []

    def size(self, blob):
        return self.blobs.size(blob)

    def read(self, blob):
        self.reads.append(blob)
        return self.blobs.read(blob)


def test_an_ordinary_change_passes(change):
    difference = change(
        (b"src/app.py", b"def f():\n    return 1\n", b"def f():\n    return 2\n"),
        (b"tests/test_app.py", None, b"def test_f():\n    assert f() == 2\n"),
        (b"docs/old.md", b"gone\n", None),
    )
    assert table.judge(difference, Policy()) == ()


def test_nothing_changed_nothing_found():
    assert table.judge(Difference((), Broken()), Policy()) == ()


def test_all_findings_of_a_hostile_change_are_told(change):
    difference = change(
        (b".github/workflows/ci.yml", b"on: push\n", b"on: pull_request_target\n"),
        (b"tool", None, b"\x7fELF\0"),
        (b"a.py", None, "x = 1 \u202e\n".encode()),
        (b"key", None, b"-----BEGIN RSA PRIVATE" + b" KEY-----\n"),
        (b"-rf", None, b""),
    )
    findings = table.judge(difference, Policy())
    assert [f.rule for f in findings] == [
        "tree.bad-name",
        "protected.ci",
        "shape.program",
        "text.bidi",
        "secrets.private-key",
    ]


def test_a_guardrail_that_breaks_lets_nothing_pass(change):
    entries = change((b"a", None, b"x")).entries
    findings = table.judge(Difference(entries, Broken()), Policy())
    assert (worst(findings), findings[0]) == (
        Verdict.BLOCK,
        Finding(
            "size.failed",
            Verdict.BLOCK,
            "",
            "the guardrail itself failed: OSError: the disk is gone",
        ),
    )


def test_content_far_too_large_is_refused_unread(change):
    difference = change((b"a", None, b"x" * 11), (b"b", None, "\u202e".encode()))
    blobs = Counting(difference.blobs)
    findings = table.judge(Difference(difference.entries, blobs), Policy(max_blob_bytes=1))
    assert ([f.rule for f in findings], blobs.reads) == (["size.blob", "size.blob"], [])


def test_each_blob_is_read_once(change):
    difference = change((b"a", b"old\n", b"new\n"))
    blobs = Counting(difference.blobs)
    table.judge(Difference(difference.entries, blobs), Policy())
    assert len(blobs.reads) == 2


def test_every_rule_is_in_the_policy_page():
    page = (Path(__file__).parents[3] / "docs" / "policy.md").read_text()
    rules = (*protected.BLOCKS, *protected.REVIEWS, *unicode.RULES)
    assert [rule.id for rule in rules if f"`{rule.id}`" not in page] == []
