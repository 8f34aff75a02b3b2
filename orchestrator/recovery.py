"""A sandbox that died is opened again, with the files as they were last recorded."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.changes import Changes
from orchestrator.events import AnyEvent, Crashed, Recovered, Restarting
from orchestrator.quarantine import Note
from sandbox.box import Box
from sandbox.errors import CrossingError, DiskFullError, SandboxError, SandboxLostError

RESTARTS = 5
"""So often a run opens its sandbox again; what dies once more is not going to hold."""


@dataclass(slots=True)
class Recovery:
    """Keeps the sandbox of one run open, as long as it does not die too often.

    A sandbox that was ended at a limit of its own did not die: it stays closed, and the error that
    says so is raised.
    """

    changes: Changes
    delay: float = 1.0
    """Seconds before the first restart; doubled for each that follows."""
    restarts: int = 0

    def record(self, box: Box, note: Note) -> Iterator[AnyEvent]:
        """Record the files; a sandbox that died before that is opened again."""
        try:
            yield from self.changes.record(box, note)
        except SandboxLostError as lost:
            yield from self._recovered(box, lost)

    def check(self, box: Box) -> Iterator[AnyEvent]:
        """Open the sandbox again when it is dead."""
        if lost := box.lost():
            yield from self._recovered(box, lost)

    def begin(self, box: Box) -> None:
        """Give a new sandbox the files as recorded, where they are not the image's."""
        base = self.changes.base.tree
        if self.changes.tree == base:
            return
        pack = self.changes.quarantine.git.directory / "recorded.pack"
        try:
            self.changes.quarantine.pack(self.changes.tree, base, pack)
            box.reset(pack, self.changes.tree)
        finally:
            pack.unlink(missing_ok=True)

    def reopen(self, box: Box, lost: SandboxLostError) -> Iterator[AnyEvent]:
        """Wait, then open it with the recorded files; again, when it dies meanwhile.

        Raises `lost`, or the last such error, when it died once too often.
        """
        while self.restarts < RESTARTS:
            self.restarts += 1
            wait = self.delay * 2 ** (self.restarts - 1)
            yield Restarting(attempt=self.restarts, of=RESTARTS, seconds=wait)
            time.sleep(wait)
            try:
                box.reopen()
                self.begin(box)
            except (DiskFullError, CrossingError):
                raise
            except SandboxError as error:  # the engine is away, a neighbour does not come up
                lost = _as_lost(error)
                yield Crashed(reason=str(lost))
            else:
                yield Recovered(attempt=self.restarts, tree=self.changes.tree)
                return
        raise lost

    def _recovered(self, box: Box, lost: SandboxLostError) -> Iterator[AnyEvent]:
        yield Crashed(reason=str(_as_lost(lost)))
        yield from self.reopen(box, lost)


def _as_lost(error: SandboxError) -> SandboxLostError:
    """The crash that this error tells of; what ended at a limit of its own is raised."""
    if not isinstance(error, SandboxLostError):
        return SandboxLostError(str(error))
    if error.limit:
        raise error
    return error
