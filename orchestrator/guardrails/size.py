"""How much a change touches: more than a person reads well, or more than anybody reads at all."""

from collections.abc import Iterator

from orchestrator.guardrails.added import additions
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict
from orchestrator.settings import Policy

FAR = 10
"""Beyond this many times a measure, a review is no longer asked for: the change is refused."""

LONGEST_LINE = 5000
"""Characters; longer lines are generated, and no diff viewer shows their end."""

MOST_READ = 32 << 20
"""Bytes of old and new content that guardrails read for one change; searching takes its time."""


def check(difference: Difference, policy: Policy) -> Iterator[Finding]:
    """Measure files, blobs, then lines; lines are counted only when the rest can be read at all."""
    blocked = False
    measured = (
        *_files(difference, policy),
        *_blobs(difference, policy),
        *_total(difference),
    )
    for finding in measured:
        blocked = blocked or finding.verdict is Verdict.BLOCK
        yield finding
    if not blocked:
        yield from _lines(difference, policy)


def _files(difference: Difference, policy: Policy) -> Iterator[Finding]:
    files = len(difference.entries)
    if files > policy.max_files:
        reason = f"{files:,} files change; {policy.max_files:,} are usual"
        yield Finding("size.files", _verdict(files, policy.max_files), "", reason)


def _blobs(difference: Difference, policy: Policy) -> Iterator[Finding]:
    for entry in difference.entries:
        size = _size(difference, entry.new_mode, entry.new_blob)
        if size > policy.max_blob_bytes:
            reason = f"the file has {size:,} bytes; up to {policy.max_blob_bytes:,} are usual"
            verdict = _verdict(size, policy.max_blob_bytes)
            yield Finding("size.blob", verdict, entry.name, reason)


def _total(difference: Difference) -> Iterator[Finding]:
    total = sum(
        _size(difference, mode, blob)
        for entry in difference.entries
        for mode, blob in ((entry.old_mode, entry.old_blob), (entry.new_mode, entry.new_blob))
    )
    if total > MOST_READ:
        reason = f"old and new files hold {total:,} bytes; no more than {MOST_READ:,} are looked at"
        yield Finding("size.total", Verdict.BLOCK, "", reason)


def _lines(difference: Difference, policy: Policy) -> Iterator[Finding]:
    total = 0
    for addition in additions(difference):
        if addition.binary:
            continue
        total += len(addition.lines) + addition.removed
        long = next((line for line in addition.lines if len(line.text) > LONGEST_LINE), None)
        if long is not None:
            reason = f"the line has {len(long.text)} characters; nobody will read its end"
            yield Finding("size.line", Verdict.REVIEW, addition.entry.name, reason, long.number)
    if total > policy.max_lines:
        reason = f"{total:,} lines were added or removed; up to {policy.max_lines:,} are usual"
        yield Finding("size.lines", _verdict(total, policy.max_lines), "", reason)


def _size(difference: Difference, mode: str, blob: str) -> int:
    return difference.blobs.size(blob) if mode.startswith(("100", "120")) else 0


def _verdict(measured: int, usual: int) -> Verdict:
    return Verdict.BLOCK if measured > FAR * usual else Verdict.REVIEW
