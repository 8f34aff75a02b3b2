"""A program's own session: put into the box before it works, taken out while and after it does."""

from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator import whole
from orchestrator.delegates.cli import Program
from orchestrator.delegates.transcript import LARGEST, Transcript, is_session
from orchestrator.events import AnyEvent, FilesTouched, Session
from orchestrator.task import Task
from orchestrator.worker import Worker
from sandbox.box import Box
from sandbox.errors import SandboxError
from sandbox.files import FileError, Files
from sandbox.gateway.mask import masked

HOME = "/home/agent"
MOST = 10
"""Sessions that are kept besides those a run goes on with; a program has one each time that it is
started, and whatever prints in its place may name as many as it likes."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A delegate whose session outlives its box."""

    worker: Worker
    cli: Program
    kept: Path
    """The folder on the host where its transcript goes."""
    secrets: frozenset[bytes]
    """What may not be in it."""
    before: Transcript | None = None
    """The session it goes on with."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Work on the task, as `Worker.work` says."""
        self.kept.mkdir()
        if self.before:
            self._place(self.before, box)
        session, opened = "", box.openings
        try:
            with closing(self.worker.work(task, box)) as events:
                for event in events:
                    if isinstance(event, Session):
                        session = event.id
                    yield event
                    if self.before and box.openings != opened:  # it died, and begins once more
                        opened = box.openings
                        self._place(self.before, box)
                    # Not only at the end: whoever is killed before it can be resumed, too.
                    if isinstance(event, FilesTouched):
                        self._keep(session, box)
        except GeneratorExit:  # somebody said stop; by now the program has ended
            self._keep(session, box)
            raise

    def _place(self, before: Transcript, box: Box) -> None:
        """Put the session where the program looks for it, if it is not there; keep it here, too."""
        files = Files(box.channel)  # it is none of those that a guard is for
        for session, content in before.parts.items():
            place = f"{HOME}/{self.cli.transcript.format(session)}"
            try:
                if not files.glob(self.cli.transcripts.format(session), HOME).names:
                    files.write(place, content)
            except FileError as problem:
                raise SandboxError(f"The session cannot be put back: {problem}") from None
            whole.write(self.kept / f"{session}.jsonl", content)

    def _keep(self, session: str, box: Box) -> None:
        """What cannot be taken out is not there when somebody wants to resume, who is told then."""
        place = self.kept / f"{session}.jsonl"
        if not is_session(session) or not (place.exists() or self._has_room()):
            return
        with suppress(FileError, SandboxError):
            pattern = self.cli.transcripts.format(session)
            for name in box.files.glob(pattern, HOME).names[:1]:
                content = masked(box.files.read(name, LARGEST), self.secrets)
                whole.write(place, content)

    def _has_room(self) -> bool:
        brought = len(self.before.parts) if self.before else 0
        return sum(1 for _ in self.kept.glob("*.jsonl")) < brought + MOST
