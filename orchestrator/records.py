"""The records of all runs: `runs/<id>/run.json` under the home folder.

A record is written whole (temporary file, fsync, rename), so whoever reads it sees the old one or
the new one. A run holds a lock on its folder while it works; the lock ends with its process.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from orchestrator import whole
from orchestrator.errors import RecordError
from orchestrator.record import Damaged, Folder, Owner, Record
from orchestrator.task import Task

PASSING = ("proof.pack", "quarantine.git/incoming.pack")
"""Files of a run that it removes itself unless it is killed."""

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""No characters that are taken for one another when an id is typed from a screen."""


class Held:
    """A run that only this process may change, as long as it is held."""

    def __init__(self, record: Record, folder: Folder) -> None:
        self.record = record
        self.folder = folder

    def update(self, **changes: object) -> Record:
        """Change fields of the record and write it; an OSError leaves the old one in place."""
        changed = msgspec.structs.replace(self.record, **changes)
        whole.write(self.folder.record, _encode(changed))
        self.record = changed
        return changed


class Records:
    """All runs of one home folder; nothing is created there before the first run begins."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._runs = home / "runs"

    def folder(self, run: str) -> Folder:
        return Folder(self._runs / run)

    @contextmanager
    def begin(
        self,
        task: Task,
        *,
        repository: str,
        git_dir: Path,
        base: str,
        base_tree: str,
        resumes: str = "",
        asked: str = "",
        forked: bool = False,
    ) -> Iterator[Held]:
        """Create a run and hold it; `repository` is a path or a URL without a password.

        The folder appears with its record in it, already locked, or not at all. An exception
        leaves the record `interrupted`, unless it was finished before. Raises OSError when the
        record cannot be written.
        """
        record = Record(
            id=_new_id(),
            task=replace(task, repository=repository),
            git_dir=str(git_dir),
            base=base,
            base_tree=base_tree,
            created=time.time(),
            owner=Owner.of_this_process(),
            resumes=resumes,
            asked=asked,
            forked=forked,
        )
        with self._placed(record) as folder:
            held = Held(record, folder)
            try:
                yield held
            except BaseException as error:
                if held.record.state == "running":
                    with suppress(OSError):
                        held.update(state="interrupted", message=str(error))
                raise

    @contextmanager
    def _placed(self, record: Record) -> Iterator[Folder]:
        """The new run's folder: prepared and locked under a hidden name, then renamed."""
        self._runs.mkdir(parents=True, exist_ok=True)
        scratch = Folder(self._runs / f".new-{record.id}")
        folder = self.folder(record.id)
        with ExitStack() as lock:
            try:
                with self._listing():
                    scratch.path.mkdir()
                    lock.enter_context(_locked(scratch.lock, record.id))
                    whole.write(scratch.record, _encode(record))
                    os.rename(scratch.path, folder.path)  # fails where a run is already
                    whole.sync(self._runs)
            except OSError:
                shutil.rmtree(scratch.path, ignore_errors=True)
                raise
            yield folder

    @contextmanager
    def hold(self, run: str) -> Iterator[Held]:
        """Hold an existing run. Raises RecordError when another process holds it."""
        folder = self.folder(self.load(run).id)
        with _locked(folder.lock, run):
            yield Held(self.load(run), folder)

    def load(self, run: str) -> Record:
        """Read one record by its whole id. Raises RecordError when it is missing or damaged."""
        found = self._read(run)
        if isinstance(found, Damaged):
            raise RecordError(
                f"The record of run {run} cannot be read ({found.reason}):"
                f" look into {self.folder(run).path}, and delete it if nothing there is needed."
            )
        return found

    def all(self) -> tuple[Record | Damaged, ...]:
        """Every run, the newest first; damaged ones are listed, too."""
        return tuple(self._read(run) for run in reversed(self._ids()))

    def find(self, start: str) -> Record:
        """The run whose id, or whose id's last part, begins with `start`.

        Raises RecordError when there is none, or more than one.
        """
        ids = self._ids()
        if start in ids:
            return self.load(start)
        fitting = [run for run in ids if start and start in (run[: len(start)], _tail(run, start))]
        if not fitting:
            raise RecordError(f"There is no run {start!r}: see `orchestrator list --all`.")
        if len(fitting) > 1:
            some = ", ".join(fitting[:5])
            raise RecordError(f"{start!r} fits {len(fitting)} runs, type more of the id: {some}.")
        return self.load(fitting[0])

    def remove(self, run: str) -> None:
        """Remove a run with all it has. Raises RecordError when a process holds it."""
        folder = self.folder(run)
        with _locked(folder.lock, run):
            shutil.rmtree(folder.path)

    def remove_unborn(self) -> int:
        """Remove what runs left that died before they had a record; returns how many."""
        if not self._runs.is_dir():
            return 0
        with self._listing():
            unborn = list(self._runs.glob(".new-*"))
            for path in unborn:
                shutil.rmtree(path)
        return len(unborn)

    def remove_folder(self) -> None:
        """Remove the folder of all runs, when none is left."""
        with suppress(OSError), self._listing():
            if os.listdir(self._runs) == [".lock"]:
                shutil.rmtree(self._runs)

    def remove_passing(self) -> tuple[Path, ...]:
        """Remove the passing files of runs that were killed; what is gone now."""
        found = [path for name in PASSING for path in self._runs.glob(f"*/{name}")]
        return tuple(path for path in found if self._remove_passing(path))

    def _remove_passing(self, path: Path) -> bool:
        run = path.relative_to(self._runs).parts[0]
        try:
            with _locked(self.folder(run).lock, run):
                path.unlink()
        except (RecordError, OSError):  # its run lives
            return False
        return True

    @contextmanager
    def _listing(self) -> Iterator[None]:
        """Held for the few milliseconds in which a run is born."""
        with (self._runs / ".lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _ids(self) -> list[str]:
        try:
            names = os.listdir(self._runs)
        except FileNotFoundError:
            return []
        return sorted(name for name in names if not name.startswith("."))

    def _read(self, run: str) -> Record | Damaged:
        try:
            content = self.folder(run).record.read_bytes()
            return msgspec.json.decode(content, type=Record)
        except OSError as error:
            return Damaged(id=run, reason=error.strerror or str(error))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return Damaged(id=run, reason=str(error))


def _new_id() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(5))
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + letters


def _tail(run: str, start: str) -> str:
    return run.rpartition("-")[2][: len(start)]


def _encode(record: Record) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record)) + b"\n"


@contextmanager
def _locked(path: Path, run: str) -> Iterator[None]:
    """Python opens files with O_CLOEXEC: a program that inherited one would keep the lock."""
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordError(
                f"Run {run} is in use: wait for its end, or stop the command that works on it."
            ) from None
        yield
