"""The folder of a file's pieces: the index, a file for each piece, and the source as it was cut.

A folder changes as a whole. The new files are prepared in a folder inside; from the moment it has
its name they are what counts, and whoever comes next moves those that were not moved yet.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath

from splitters import whole
from splitters.index import NAME, BadIndexError, Index, UnreadableError, decode, encode

BASE = "index.base"
"""The source as it was when it was cut."""
NEXT = ".pieces-next"
_UNBORN = ".pieces-new"
_WAS = "was.json"
_FEW = 100
"""So many pieces are brought to disk one by one; 2,000 took 12 s so, and 5 s at once. A piece that
was lost with the power would be taken for one that was emptied."""

Check = Callable[[Index], None]
"""Raises for an index that is not trusted."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A folder of pieces as it is on disk, read at one moment."""

    path: Path
    index: Index
    base: bytes
    contents: tuple[bytes | None, ...]
    """Of the pieces, as they are now; None: the file is gone."""

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """The pieces as they were cut."""
        return tuple(self.base[each.start_byte : each.end_byte] for each in self.index.segments)

    @property
    def edited(self) -> tuple[int, ...]:
        """The numbers of the pieces that are not as they were cut."""
        pairs = zip(self.pieces, self.contents, strict=True)
        return tuple(n for n, (old, new) in enumerate(pairs, 1) if new is not None and new != old)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the pieces whose files are gone."""
        pairs = zip(self.index.names, self.contents, strict=True)
        return tuple(name for name, content in pairs if content is None)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time gets past here; the lock ends with it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def unfinished(path: Path) -> bool:
    """Whether a change of the folder was interrupted; `finish` brings it to its end."""
    return os.path.lexists(path / NEXT)


def read(path: Path, check: Check, now: Path | None = None) -> Stored:
    """Read a folder and check that all in it fits together. Raises BadIndexError, OSError.

    `path` is absolute and without links; `now`, where the folder is if it was moved from there.
    `check` sees the index before anything it names is read.
    """
    folder = os.open(now or path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        index = decode(_required(folder, NAME), str(path))
        check(index)
        base = _required(folder, BASE)
        stored = Stored(path, index, base, tuple(_piece(folder, name) for name in index.names))
    finally:
        os.close(folder)
    if sha256(base).hexdigest() != index.source_sha256 or len(base) != index.source_size_bytes:
        raise BadIndexError(f"{BASE} is not the source that was cut")
    for segment, content in zip(index.segments, stored.pieces, strict=True):
        if sha256(content).hexdigest() != segment.sha256:
            raise BadIndexError(
                f"segment {segment.segment_index} has another SHA-256 than its bytes"
            )
    return stored


def free(path: Path, index: Index) -> bool:
    """Whether the files of an index can be written without replacing any."""
    return not any(os.path.lexists(path / name) for name in (NAME, BASE, NEXT, *index.names))


def write(path: Path, index: Index, base: bytes, old: Stored | None = None) -> None:
    """Write an index and its pieces into a folder, in the place of `old`, whole or not at all."""
    unborn = path / _UNBORN
    _remove(unborn)
    unborn.mkdir(mode=0o700)
    few = len(index.names) <= _FEW
    for segment, name in zip(index.segments, index.names, strict=True):
        content = base[segment.start_byte : segment.end_byte]
        whole.write(unborn / name, content, lasting=few)
    if not few:
        os.sync()
    whole.write(unborn / BASE, base)
    whole.write(unborn / NAME, encode(index))
    was = _digests(old)
    whole.write(unborn / _WAS, json.dumps(was).encode())
    whole.sync(unborn)
    os.rename(unborn, path / NEXT)
    whole.sync(path)
    stale = {*old.index.names} - {*index.names} if old else set()
    _move(path, index.names, stale, was)


def finish(path: Path, check: Check) -> None:
    """Move what was prepared to its place. A piece that was edited meanwhile is kept beside it."""
    prepared = path / NEXT
    # The index was moved last; no folder of that name is ours.
    if prepared.is_symlink() or not (prepared / NAME).is_file():
        _remove(prepared)
        return
    folder = os.open(prepared, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        index = decode(_required(folder, NAME), str(path))
        was = _read_digests(_required(folder, _WAS))
    finally:
        os.close(folder)
    check(index)
    _move(path, index.names, _stale(path, index, check), was)


def _stale(path: Path, index: Index, check: Check) -> set[str]:
    """The files of pieces that only the index before knows."""
    try:
        before = decode(_plain(path / NAME), str(path))
    except (OSError, BadIndexError):
        return set()
    check(before)
    return {*before.names} - {*index.names}


def _move(path: Path, names: tuple[str, ...], stale: set[str], was: dict[str, str]) -> None:
    prepared = path / NEXT
    left = {*os.listdir(prepared)}
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in (*names, BASE):
            if name in left:
                _put_aside(folder, name, was.get(name, ""))
                os.replace(f"{NEXT}/{name}", name, src_dir_fd=folder, dst_dir_fd=folder)
        for name in stale:
            _put_aside(folder, name, was.get(name, ""))
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)
    whole.sync(path)
    os.replace(prepared / NAME, path / NAME)
    whole.sync(path)
    shutil.rmtree(prepared)


def _put_aside(folder: int, name: str, was: str) -> None:
    """Keep what is neither what was there when the change began, nor ours."""
    try:
        ours = _digest(whole.read(folder, name)) == was
    except FileNotFoundError:
        return
    except OSError:  # a link, a pipe, a folder
        ours = False
    if not ours:
        kept = f"kept-{os.urandom(4).hex()}{PurePath(name).suffix}"
        os.rename(name, kept, src_dir_fd=folder, dst_dir_fd=folder)


def _remove(path: Path) -> None:
    """Remove a folder of ours, or what somebody put in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _digests(old: Stored | None) -> dict[str, str]:
    if old is None:
        return {}
    pairs = zip(old.index.names, old.contents, strict=True)
    found = {name: _digest(content) for name, content in pairs if content is not None}
    return found | {BASE: old.index.source_sha256}


def _read_digests(content: bytes) -> dict[str, str]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadIndexError(f"{_WAS} in {NEXT} is damaged")
    return {name: str(digest) for name, digest in found.items()}


def _plain(path: Path) -> bytes:
    """The bytes of a plain file; raises OSError for all else, and a pipe does not hold us up."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return whole.read(folder, path.name)
    finally:
        os.close(folder)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _required(folder: int, name: str) -> bytes:
    try:
        return whole.read(folder, name)
    except OSError as error:
        raise _unread(name, error) from None


def _piece(folder: int, name: str) -> bytes | None:
    try:
        return whole.read(folder, name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unread(name, error) from None


def _unread(name: str, error: OSError) -> BadIndexError:
    kind = UnreadableError if isinstance(error, PermissionError) else BadIndexError
    return kind(f"{name} cannot be read: {error.strerror}")
