"""How much is too much, and for whom."""

from orchestrator.guardrails import size
from orchestrator.outcome import Finding, Verdict
from orchestrator.settings import Policy


def found(difference, **policy):
    return [(f.rule, f.verdict) for f in size.check(difference, Policy(**policy))]


def files(change, count):
    return change(*((b"%d" % n, None, b"") for n in range(count)))


def test_a_usual_change_passes(change):
    assert found(files(change, 100)) == []


def test_many_files_are_for_review(change):
    assert tuple(size.check(files(change, 101), Policy())) == (
        Finding("size.files", Verdict.REVIEW, "", "101 files change; 100 are usual"),
    )


def test_far_too_many_files_are_refused(change):
    assert found(files(change, 1001)) == [("size.files", "block")]


def test_large_numbers_can_be_read(change):
    (found,) = size.check(change((b"a", None, b"x\n" * 1500)), Policy(max_blob_bytes=1000))
    assert found.reason == "the file has 3,000 bytes; up to 1,000 are usual"


def test_a_large_file_is_for_review(change):
    assert found(change((b"a", None, b"x\n" * 600)), max_blob_bytes=1000) == [
        ("size.blob", "review")
    ]


def test_a_far_too_large_file_is_refused(change):
    assert found(change((b"a", None, b"x" * 10_001)), max_blob_bytes=1000) == [
        ("size.blob", "block")
    ]


def test_taking_a_large_file_away_is_fine(change):
    assert found(change((b"a", b"\0" * 2000, None)), max_blob_bytes=1000) == []


def test_added_and_removed_lines_count_together(change):
    difference = change((b"a", b"1\n2\n3\n", b"1\n4\n5\n"))
    assert found(difference, max_lines=4) == []
    assert found(difference, max_lines=3) == [("size.lines", "review")]


def test_moved_lines_do_not_count(change):
    assert found(change((b"a", b"1\n2\n3\n", b"3\n1\n2\n")), max_lines=1) == []


def test_far_too_many_lines_are_refused(change):
    assert found(change((b"a", None, b"x\n" * 11)), max_lines=1) == [("size.lines", "block")]


def test_binary_content_has_no_lines(change):
    assert found(change((b"a", None, b"\0" + b"\n" * 99)), max_lines=1) == []


def test_a_line_nobody_reads_to_its_end_is_for_review(change):
    difference = change((b"a", None, b"\n" + b"x" * 5001))
    assert [(f.rule, f.verdict, f.line) for f in size.check(difference, Policy())] == [
        ("size.line", "review", 2)
    ]


def test_more_content_than_can_be_searched_is_refused(change):
    difference = change(*((b"%d" % n, None, b"%d" % n + b"\0" * (9 << 20)) for n in range(4)))
    assert found(difference, max_blob_bytes=1 << 30) == [("size.total", "block")]
