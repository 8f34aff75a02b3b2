"""One conversation for each file of a repository, found again after the file was renamed.

    edits/<repository>/index.json         which file has which id
    edits/<repository>/<file id>.jsonl    its conversation
    edits/<repository>/archive/           conversations that were cleared

All of it is in the home folder; nothing is ever in the repository.
"""

import fcntl
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator import whole
from orchestrator.dialogue import Told, read
from orchestrator.errors import BusyError, UsageError
from orchestrator.renames import earlier_names
from orchestrator.repository import Repository


class _Known(Struct, frozen=True):
    """A file that was edited once."""

    file_id: str
    path: str
    """As it was called last, from the root of the repository."""


class _Index(Struct, frozen=True):
    repository: str
    """The git directory that worktrees share."""
    files: tuple[_Known, ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    """A file and its conversation."""

    file_id: str
    """Stays the same when the file is renamed, and when its conversation is cleared."""
    path: str
    conversation: Path

    def told(self) -> Told:
        """All that was said about it; nothing where there is no conversation yet."""
        return read(self.conversation) if self.conversation.exists() else Told()


class Edits:
    """The conversations about the files of one repository."""

    def __init__(self, home: Path, repository: Repository) -> None:
        common = repository.place.common_dir
        name = common.parent.name if common.name == ".git" else common.name
        digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:12]
        self.folder = home / "edits" / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)}-{digest}"
        self._repository = repository

    def all(self) -> tuple[Edited, ...]:
        """The files that have a conversation, by their paths."""
        found = [self._edited(known.file_id, known.path) for known in self._read().files]
        found = [edited for edited in found if edited.conversation.exists()]
        return tuple(sorted(found, key=lambda edited: edited.path))

    def find(self, path: str) -> Edited | None:
        """The file that has this path now, also when it was edited under an earlier one."""
        known = {known.path: known for known in self._read().files}
        found = known.get(path) or (self._renamed(path, known) if known else None)
        return self._edited(found.file_id, path) if found else None

    @contextmanager
    def hold(self, path: str) -> Iterator[Edited]:
        """The file with its conversation, which only this process goes on with meanwhile.

        A name under which nothing is said by the end is forgotten: its file may yet turn out to be
        one that was renamed. Raises BusyError when another process goes on with it.
        """
        found = self.find(path)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            known = self._settled(path, found.file_id if found else "")
        with _locked(self.folder / f"{known.file_id}.lock", path):
            edited = self._edited(known.file_id, path)
            try:
                yield edited
            finally:
                if found is None and not edited.conversation.exists():
                    with self._alone():
                        self._forget(known)

    def clear(self, path: str) -> Path | None:
        """Put a conversation into the archive and say where; None when there is none."""
        found = self.find(path)
        if found is None or not found.conversation.exists():
            return None
        with self.hold(path) as edited:
            archive = self.folder / "archive"
            archive.mkdir(exist_ok=True)
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            place = archive / f"{edited.file_id}-{stamp}-{secrets.token_hex(2)}.jsonl"
            os.rename(edited.conversation, place)
            whole.sync(archive)
            whole.sync(self.folder)
            return place

    def _edited(self, file_id: str, path: str) -> Edited:
        return Edited(file_id, path, self.folder / f"{file_id}.jsonl")

    def _renamed(self, path: str, known: dict[str, _Known]) -> _Known | None:
        """The file that was renamed to `path`: git says so, and the old name is free."""
        root = self._repository.place.work_tree
        for old in earlier_names(self._repository, path):
            if old in known and not (root and os.path.lexists(root / old)):
                return known[old]
        return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else writes the index meanwhile."""
        with (self.folder / ".lock").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _forget(self, known: _Known) -> None:
        index = self._read()
        others = tuple(each for each in index.files if each != known)
        self._write(msgspec.structs.replace(index, files=others))

    def _settled(self, path: str, file_id: str) -> _Known:
        """The file under its present name, which the index has from then on."""
        index = self._read()
        for known in index.files:
            if known.path == path:  # another process may have been first
                return known
        settled = _Known(file_id or secrets.token_hex(6), path)
        others = tuple(known for known in index.files if known.file_id != file_id)
        self._write(msgspec.structs.replace(index, files=(*others, settled)))
        return settled

    def _read(self) -> _Index:
        path = self.folder / "index.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=_Index)
        except FileNotFoundError:
            return _Index(str(self._repository.place.common_dir))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{path} cannot be read ({error}): mend it, or delete it to begin anew."
            ) from None

    def _write(self, index: _Index) -> None:
        content = msgspec.json.format(msgspec.json.encode(index)) + b"\n"
        whole.write(self.folder / "index.json", content)


def idle(folder: Path, before: float) -> Iterator[Path]:
    """The conversations in a repository's folder that nobody goes on with, or did since `before`.

    Each is held while it is looked at by whoever asked.
    """
    for path in sorted(folder.glob("archive/*.jsonl")):
        if path.stat().st_mtime < before:
            yield path
    for path in sorted(folder.glob("*.jsonl")):
        with suppress(BusyError), _locked(path.with_suffix(".lock"), path.name):
            if path.stat().st_mtime < before:
                yield path


@contextmanager
def _locked(lock: Path, path: str) -> Iterator[None]:
    with lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(
                f"{path} is being edited by another command: wait for its end, or stop it."
            ) from None
        yield
