"""Folders and locks of this user under the temporary folder, and what killed processes left there.

Whoever uses one holds a lock on it, which ends with the process: what nobody holds is left over.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path


def _prefix() -> str:
    return f"orchestrator-{os.getuid()}-"


@contextlib.contextmanager
def folder(within: Path | None = None) -> Iterator[Path]:
    """A new private folder, removed at the end; `within` is by default the temporary folder."""
    with contextlib.ExitStack() as held:
        place = _made(within, held)
        while place is None:  # a sweep took it for left over
            place = _made(within, held)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _made(within: Path | None, held: contextlib.ExitStack) -> Path | None:
    """A new folder and its lock; None when another process was first to hold it."""
    place = Path(tempfile.mkdtemp(prefix=_prefix(), suffix=".new", dir=within))
    try:
        there = held.enter_context(_held(place, os.O_DIRECTORY, wait=True))
    except FileNotFoundError:
        return None
    return place if there else None


@contextlib.contextmanager
def turn(name: str) -> Iterator[None]:
    """One process of this user at a time gets past here."""
    place = Path(tempfile.gettempdir(), f"{_prefix()}{name}.lock")
    while True:
        with _held(place, os.O_RDWR | os.O_CREAT, wait=True) as there:
            if there:
                try:
                    yield
                finally:
                    place.unlink(missing_ok=True)
                return


def left(within: Path | None = None) -> tuple[Path, ...]:
    """What no process holds any more."""
    place = within or Path(tempfile.gettempdir())
    return tuple(sorted(path for path in place.glob(f"{_prefix()}*") if _free(path)))


def remove(path: str | Path) -> None:
    """Remove what nobody holds; BlockingIOError when somebody does by now."""
    place = Path(path)
    try:
        with _held(place, os.O_RDONLY):
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
    except FileNotFoundError:
        return


def sweep(within: Path) -> tuple[Path, ...]:
    """Remove what is left in a folder; what could not be removed stays for the next time."""
    found = left(within)
    for path in found:
        with contextlib.suppress(OSError):
            remove(path)
    return tuple(path for path in found if not path.exists())


def _free(path: Path) -> bool:
    """Whether this is of our making, and nobody's by now. Anybody may put names into /tmp."""
    try:
        facts = path.lstat()
        ours = facts.st_uid == os.getuid() and path.suffix in (".lock", ".new")
        if not ours or not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
            return False
        with _held(path, os.O_RDONLY):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _held(path: Path, flags: int, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of what `path` names, or raise BlockingIOError.

    Gives False when, meanwhile, its holder before has removed it: then it keeps nobody out.
    """
    lock = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield _names(path, lock)
    finally:
        os.close(lock)


def _names(path: Path, file: int) -> bool:
    """Whether the path stands for this open file. Asked in one step: it may go at any moment."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file))
    except FileNotFoundError:
        return False
