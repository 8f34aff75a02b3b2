"""All guardrails, and their judgement of one change."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from orchestrator.guardrails import boundary, protected, secrets, shape, size, tree, unicode
from orchestrator.guardrails.guardrail import Blobs, Difference, Guardrail
from orchestrator.outcome import Finding, Verdict, worst
from orchestrator.settings import Policy

KEPT = 64 << 20
"""Bytes of blobs kept in memory while one change is judged."""


def guardrails(policy: Policy) -> tuple[tuple[str, Guardrail], ...]:
    """Name the guardrails in their order; those up to `size` decide whether content is read."""
    return (
        ("tree", tree.tree),
        ("protected", partial(protected.check, policy=policy)),
        ("size", partial(size.check, policy=policy)),
        ("shape", shape.check),
        ("text", unicode.check),
        ("secrets", partial(secrets.check, policy=policy)),
    )


def judge(difference: Difference, policy: Policy) -> tuple[Finding, ...]:
    """Ask every guardrail; `outcome.worst` of the answer is the verdict.

    `policy` is the base commit's. A change far too large is refused for that alone: content that
    nobody can read in time is not searched.
    """
    kept = replace(difference, blobs=_KeptBlobs(difference.blobs))
    findings: tuple[Finding, ...] = ()
    for name, guardrail in guardrails(policy):
        answer = tuple(_ask(name, guardrail, kept))
        findings += answer
        if name == "size" and worst(answer) is Verdict.BLOCK:
            break
    return findings


def keeps_to(
    difference: Difference, only: tuple[str, ...], followed: frozenset[bytes]
) -> tuple[Finding, ...]:
    """What changed besides the paths that this run was told to keep to."""
    check = partial(boundary.check, only=only, followed=followed)
    return tuple(_ask("boundary", check, difference))


def _ask(name: str, guardrail: Guardrail, difference: Difference) -> Iterator[Finding]:
    """Take a guardrail's findings; one that breaks has let nothing pass."""
    try:
        yield from guardrail(difference)
    except Exception as error:
        reason = f"the guardrail itself failed: {type(error).__name__}: {error}"
        yield Finding(f"{name}.failed", Verdict.BLOCK, "", reason)


class _KeptBlobs:
    """Blobs that are read once, though several guardrails look at them."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._read: dict[str, bytes] = {}
        self._room = KEPT

    def size(self, blob: str) -> int:
        return self._blobs.size(blob)

    def read(self, blob: str) -> bytes:
        if blob in self._read:
            return self._read[blob]
        data = self._blobs.read(blob)
        if len(data) <= self._room:
            self._room -= len(data)
            self._read[blob] = data
        return data
