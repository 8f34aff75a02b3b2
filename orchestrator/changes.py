"""The changes of a run: one snapshot and one judged commit each time the files differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.events import Changed, Ignored, LeftOut
from orchestrator.guardrails.boundary import renamed
from orchestrator.guardrails.guardrail import Difference
from orchestrator.guardrails.table import judge, keeps_to
from orchestrator.guardrails.tree import tree
from orchestrator.outcome import Finding, Verdict, gravest, worst
from orchestrator.quarantine import Note, Quarantine
from orchestrator.repository import Base
from orchestrator.settings import Policy
from sandbox.box import Box

_SHOWN = 100
"""Paths that are named of one change."""


@dataclass(slots=True)
class Changes:
    """What has been recorded of one run so far; starts as the untouched base."""

    quarantine: Quarantine
    policy: Policy
    base: Base
    tip: str
    tree: str
    only: tuple[str, ...] = ()
    """What alone may change; none: all."""
    followed: frozenset[bytes] = frozenset()
    """Names that a file among it was given on the way."""
    count: int = 0
    left_out: tuple[str, ...] = ()
    """Paths that could not be recorded at the last look."""
    ignored: Ignored | None = None
    """What a `.gitignore` kept out at the last look."""
    tainted: bool = False
    """An intermediate tree was blocked: the chain is published as one commit, or not at all."""

    @classmethod
    def of(
        cls, quarantine: Quarantine, policy: Policy, base: Base, only: tuple[str, ...] = ()
    ) -> "Changes":
        """No changes yet."""
        return cls(quarantine, policy, base, tip=base.commit, tree=base.tree, only=only)

    def begin_after(self, tip: str) -> None:
        """Begin after changes that are in the quarantine already; each of them is judged anew."""
        for commit in self.quarantine.log(self.base.commit, tip):
            difference = self.quarantine.difference(self.tip, commit)
            self._judged(commit, difference, gravest(tuple(tree(difference))))
            self.tip, self.tree = commit, self.quarantine.tree(commit)
            self.count += 1
        self.quarantine.begin_after(tip)

    def record(self, box: Box, note: Note, *, anew: bool = False) -> Iterator[Changed | LeftOut]:
        """Take a snapshot of the box and commit it; tells nothing where nothing differs.

        With `anew` every file is read again.

        Raises QuarantineError or `sandbox.errors.SandboxError`; nothing is recorded then, but where
        the sandbox has no room left for what comes next.
        """
        pack = self.quarantine.git.directory / "incoming.pack"
        snapshot = box.snapshot(self.tree, pack, anew=anew)
        self.ignored = Ignored(paths=snapshot.ignored, total=snapshot.ignored_total)
        if snapshot.left_out != self.left_out:
            self.left_out = snapshot.left_out
            yield LeftOut(paths=snapshot.left_out, step=note.step)
        if snapshot.pack is not None:
            try:
                yield self._admit(snapshot.tree, snapshot.pack, note)
            finally:
                snapshot.pack.unlink()  # on a full disk, the record needs its room
        box.require_room(snapshot.left)

    def _admit(self, tree: str, pack: Path, note: Note) -> Changed:
        change = self.quarantine.admit(tree, pack, parent=self.tip, note=note)
        findings = self._judged(change.commit, change.difference, gravest(change.findings))
        self.tip, self.tree = change.commit, change.tree
        self.count += 1
        return Changed(
            commit=change.commit,
            tree=change.tree,
            step=change.step,
            tool=note.tool,
            files=change.files,
            added=change.added,
            removed=change.removed,
            findings=findings,
            paths=_names(change.difference),
            delegate=note.delegate,
        )

    def _judged(
        self, commit: str, difference: Difference | None, findings: tuple[Finding, ...]
    ) -> tuple[Finding, ...]:
        """What is found in one change, more of it where its raw difference shows nothing."""
        if difference and not findings:
            found = judge(difference, self.policy)
            findings = gravest(found + self._outside(commit, difference))
        self.tainted = self.tainted or worst(findings) is Verdict.BLOCK
        return findings

    def judge(self, old: str, new: str) -> tuple[Finding, ...]:
        """What the guardrails say of the difference between two commits, the gravest of it."""
        difference = self.quarantine.difference(old, new)
        return gravest(judge(difference, self.policy) + self._outside(new))

    def _outside(self, commit: str, step: Difference | None = None) -> tuple[Finding, ...]:
        """What lies outside of the paths that may change, seen from the base."""
        if not self.only:
            return ()
        if step and (name := renamed(step, self.only, self.followed)):
            self.followed |= {name}
        difference = self.quarantine.difference(self.base.commit, commit)
        return keeps_to(difference, self.only, self.followed)


def _names(difference: Difference | None) -> tuple[str, ...]:
    return tuple(entry.name for entry in difference.entries[:_SHOWN]) if difference else ()
