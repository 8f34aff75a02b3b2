"""What `run --replay` plays: a run, with all that was asked then, or a folder of a cassette."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.cli import again, place
from orchestrator.cli.request import Request
from orchestrator.dialogue import Dialogue, read
from orchestrator.errors import UsageError
from orchestrator.models.traffic import Replay
from orchestrator.origin import Origin
from orchestrator.planning import Flags
from orchestrator.record import Record
from orchestrator.summary import in_copy
from orchestrator.task import Task


@dataclass(frozen=True, slots=True)
class Played:
    """A recording, and what is known of the run that made it."""

    folder: Path
    traffic: Replay
    record: Record | None = None
    """None for a folder that may come from anywhere."""
    dialogue: Dialogue | None = None
    """What was said before the run, if it went on with a conversation."""
    origin: Origin | None = None
    """The run that it went on with, if it did."""

    def request(self, asked: Request, *, said: bool) -> Request:
        """What was asked now or, where nothing was `said`, what was asked then."""
        if self.record is None:
            return asked
        then = self.record.git_dir if in_copy(self.record) else self.record.task.repository
        return Request(asked.repository if said else then, asked.prompt or self.record.task.prompt)

    def flags(self, now: Flags) -> Flags:
        """The flags as given now, and for all others the task as it was then."""
        then = again.flags(self.record) if self.record else Flags()
        return again.over(replace(then, model=then.model or self.traffic.model or None), now)

    def task(self, now: Task) -> Task:
        """The task as it is now, with what the model was told besides."""
        if self.record is None:
            return now
        then = self.record.task
        return replace(now, notes=then.notes, conversation=then.conversation, login=then.login)

    def difference(self, now: Record) -> str:
        """That the same answers led to other files, which no request showed; else empty."""
        then = self.record
        if then is None or not (then.tree and now.tree) or then.base_tree != now.base_tree:
            return ""
        if then.tree == now.tree:
            return ""
        return (
            f"the replay ended in other files than run {then.short}: {now.tree[:10]},"
            f" not {then.tree[:10]}; compare `orchestrator diff` of both"
        )


def find(named: str, flags: Flags) -> Played:
    """The recording of a run, or in a folder. Raises UsageError when there is none."""
    if flags.command or flags.use or flags.worker == "command":
        raise UsageError("A command asks no model, so there is nothing to replay.")
    if (flags.model or "").startswith("scripted:"):
        raise UsageError("A script needs no replay: drop --replay or --model.")
    if Path(named).is_dir():
        folder = Path(named).resolve()
        return Played(folder, Replay(folder))
    record = place.records().find(named)
    folder = Path(record.task.replay or place.records().folder(record.id).cassette)
    return Played(folder, Replay(folder), record, _dialogue(record), _origin(record))


def _dialogue(record: Record) -> Dialogue | None:
    if not record.task.conversation:
        return None
    path = place.records().folder(record.id).earlier
    if not path.is_file():
        raise UsageError(
            f"Run {record.short} went on with a conversation, and {path} with what was said before"
            " is gone: it cannot be replayed."
        )
    return Dialogue(read(path).messages)


def _origin(record: Record) -> Origin | None:
    if not record.resumes:
        return None
    before = place.records().load(record.resumes)
    return Origin.of(before, place.records().folder(before.id), fork=record.forked)
