"""What is known of one run, and where its parts are on disk."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import Struct

from orchestrator.evidence import Evidence
from orchestrator.outcome import Finding, Outcome, Verdict
from orchestrator.task import Task

State = Literal["running", "finished", "interrupted"]

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Owner(Struct, frozen=True):
    """A process, told apart from a later one with the same number."""

    pid: int
    boot: str
    """The kernel's id of this boot; empty on systems without /proc."""
    started: str
    """Clock ticks from boot to the start of the process; empty without /proc."""

    @classmethod
    def of_this_process(cls) -> "Owner":
        owner = cls.of(os.getpid())
        assert owner is not None
        return owner

    @classmethod
    def of(cls, pid: int) -> "Owner | None":
        """The process that has this number now, or None when there is none."""
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass  # it lives, as another user
        if not _BOOT_ID.exists():
            return cls(pid, "", "")
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except FileNotFoundError:
            return None
        # proc(5): field 22, counted after the name, which may itself hold spaces and brackets.
        return cls(pid, _BOOT_ID.read_text().strip(), stat.rpartition(")")[2].split()[19])

    @property
    def lives(self) -> bool:
        return Owner.of(self.pid) == self


class Approval(Struct, frozen=True):
    """A person's word for one tree; another tree needs another one."""

    tree: str
    by: str
    time: float
    """Unix seconds."""


class Record(Struct, frozen=True, kw_only=True):
    """What is known of one run."""

    id: str
    task: Task
    git_dir: str
    """The git directory that worktrees share: which repository this is."""
    base: str
    """Commit id, 40 hex digits."""
    base_tree: str
    created: float
    """Unix seconds."""
    owner: Owner
    resumes: str = ""
    """The run it goes on with; empty: it began anew."""
    asked: str = ""
    """What the first run was asked of those that it goes on with; empty where it began anew."""
    forked: bool = False
    """It does so under a session id of its own."""
    state: State = "running"
    seconds: float = 0.0
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """On the base, then on the recorded tree."""
    message: str = ""
    """One sentence on why it ended so, from facts."""
    said: str = ""
    """The worker's last words: a claim."""
    tip: str = ""
    """The last recorded commit; empty while nothing has changed."""
    tree: str = ""
    branch: str = ""
    """The published branch; empty before that."""
    unpublished: str = ""
    """Why the branch could not be written at the end; empty once it is, or where there is none."""
    merged: str = ""
    """The commit that merging made; empty before that."""
    discarded: bool = False
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None where a price is unknown."""
    approvals: tuple[Approval, ...] = ()
    recorded: int = 0
    """Bytes of model traffic in its cassette."""

    @property
    def short(self) -> str:
        """The part of the id that is typed."""
        return self.id.rpartition("-")[2]

    @property
    def exit_code(self) -> int | None:
        """What the command line ends with; None before the end. No branch is no success."""
        if self.outcome is None:
            return None
        return self.outcome.exit_code or int(bool(self.unpublished))

    @property
    def approved(self) -> bool:
        """Whether somebody approved exactly the recorded tree."""
        return any(approval.tree == self.tree for approval in self.approvals)

    @property
    def shown_state(self) -> State:
        """`interrupted` when the record says `running` and its process is gone."""
        if self.state == "running" and not self.owner.lives:
            return "interrupted"
        return self.state

    @property
    def state_word(self) -> str:
        """`running`, `interrupted`, or the outcome."""
        state = self.shown_state
        return str(self.outcome) if state == "finished" and self.outcome else state

    @property
    def progress_word(self) -> str:
        """The state, or what a person made of the run since."""
        if self.merged:  # then a branch that was discarded was only tidied away
            return "merged"
        return "discarded" if self.discarded else self.state_word


class Damaged(Struct, frozen=True, kw_only=True):
    """A run whose record cannot be read."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the parts of one run are."""

    path: Path

    @property
    def home(self) -> Path:
        """The home folder, with all its runs."""
        return self.path.parents[1]

    @property
    def record(self) -> Path:
        return self.path / "run.json"

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def quarantine(self) -> Path:
        return self.path / "quarantine.git"

    @property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    @property
    def cassette(self) -> Path:
        return self.path / "cassette"

    @property
    def earlier(self) -> Path:
        """What was said before this run, where it went on with a conversation."""
        return self.path / "earlier.jsonl"

    @property
    def conversation(self) -> Path:
        """What was said in this run of our own agent, where that is no longer conversation."""
        return self.path / "conversation.jsonl"

    @property
    def lock(self) -> Path:
        return self.path / "lock"
