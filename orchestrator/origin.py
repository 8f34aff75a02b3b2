"""The run that another one goes on with: its changes, and what its worker had said and done."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator import journal
from orchestrator.changes import Changes
from orchestrator.delegates.acp_agents import resumable
from orchestrator.delegates.inherited import hand_on
from orchestrator.delegates.table import CLIS
from orchestrator.delegates.transcript import SESSIONS, Transcript, found
from orchestrator.dialogue import Dialogue, read
from orchestrator.errors import GitError, QuarantineError, RecordError, UsageError
from orchestrator.events import Resumed, Session
from orchestrator.quarantine import Quarantine
from orchestrator.record import Folder, Record
from orchestrator.repository import Base

_NOT_KEPT = (
    "The session of run {} was not kept: {} had not begun, or it was lost with its sandbox; start a"
    " new run, with `--base` for its branch."
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What is taken over; nothing of that run is changed."""

    record: Record
    quarantine: Quarantine
    before: Dialogue | Transcript
    folder: Folder

    @property
    def forked(self) -> bool:
        """Whether the session goes on under an id of its own."""
        return isinstance(self.before, Transcript) and self.before.fork

    @property
    def asked(self) -> str:
        """The task with which it all began: it may itself go on with another run."""
        return self.record.asked or self.record.task.prompt

    @classmethod
    def of(cls, record: Record, folder: Folder, *, fork: bool = False) -> "Origin":
        """Raises RecordError when the run still goes on, or is none that can be gone on with."""
        _require_session(record)
        if record.shown_state == "running":
            raise RecordError(
                f"Run {record.short} is still at work: wait for its end, or stop it with Ctrl-C."
            )
        try:
            quarantine = Quarantine.open(folder.quarantine)
        except QuarantineError:
            raise RecordError(
                f"Run {record.short} ended before its work began: start it anew with"
                " `orchestrator run`."
            ) from None
        return cls(record, quarantine, _before(record, folder, fork), folder)

    def require(self, base: Base) -> None:
        """Raise UsageError for any other base than its own.

        A reviewer sees the whole difference since then, of both runs, judged as one.
        """
        if base.commit != self.record.base:
            raise UsageError(
                f"Run {self.record.short} began at {self.record.base[:10]}, and whatever goes on"
                " with it has the same base: drop --base."
            )

    def hand_on(self, artifacts: Path) -> None:
        """Put what programs keep of their sessions, to which its agent delegated, with a run."""
        events = (entry.event for entry in journal.read(self.folder.journal))
        hand_on(events, self.folder.artifacts, artifacts)

    def bring(self, changes: Changes) -> Resumed:
        """Begin with its changes, each judged anew. Raises QuarantineError when one is damaged."""
        into = changes.quarantine
        pack = into.git.directory / "incoming.pack"
        tip = self.quarantine.tip
        try:
            if tip != self.record.base:
                into.git.index_pack(self.quarantine.pack(tip, self.record.base, pack), "--strict")
        except GitError as error:
            message = f"The changes of run {self.record.short} are damaged: {error}"
            raise QuarantineError(message) from None
        finally:
            pack.unlink(missing_ok=True)
        changes.begin_after(tip)
        return Resumed(
            run=self.record.id,
            commits=changes.count,
            tip=tip,
            tree=changes.tree,
            session=self.before.session if isinstance(self.before, Transcript) else "",
            forked=self.forked,
        )


def _require_session(record: Record) -> None:
    again = f"run it again with `--base {record.branch}`" if record.branch else "run it again"
    if record.task.worker == "command":
        advice = f"a command has no session; {again}"
    elif record.task.worker == "acp" and not resumable(record.task.command):
        advice = f"where {record.task.command[0]} keeps its sessions is not known; {again}"
    elif record.task.conversation:
        (file,) = record.task.only
        advice = f'`orchestrator edit {file} "..."` goes on with its conversation'
    else:
        return
    raise UsageError(f"Run {record.short} cannot be resumed: {advice}.")


def _before(record: Record, folder: Folder, fork: bool) -> Dialogue | Transcript:
    if record.task.worker in (*CLIS, "acp"):
        return _transcript(record, folder, fork)
    told = [read(path) for path in (folder.earlier, folder.conversation) if path.is_file()]
    messages = [message for each in told for message in each.messages]
    if not messages:
        raise RecordError(_NOT_KEPT.format(record.short, "its agent"))
    return Dialogue(messages)


def _transcript(record: Record, folder: Folder, fork: bool) -> Transcript:
    """The last session that it began or went on with. Raises RecordError when that is gone."""
    parts = found(folder.artifacts / SESSIONS)
    told = ""
    for entry in journal.read(folder.journal):
        match entry.event:
            case Session(id=session) | Resumed(session=session) if session in parts:
                told = session
    if not told:
        raise RecordError(_NOT_KEPT.format(record.short, "its program"))
    return Transcript(told, parts, fork)
