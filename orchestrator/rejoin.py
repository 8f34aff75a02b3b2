"""Edited pieces back into their file: all of them, or none and the file as it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from orchestrator import threeway
from orchestrator.errors import PieceError
from orchestrator.parser import Parser
from orchestrator.pieces import content, opened, recut
from orchestrator.seal import Seal
from orchestrator.threeway import Span
from sandbox import scratch
from splitters import whole
from splitters.folder import Stored
from splitters.index import NAME
from splitters.merge import merge

PATCH = "index.patch"
CONFLICT = "index.conflict"


@dataclass(frozen=True, slots=True)
class Way:
    """How far a patch goes."""

    apply: bool = True
    """Write the source; else only the patch."""
    dry_run: bool = False
    """Write nothing at all."""
    force: bool = False
    """Merge also into a source that was changed since it was cut."""

    @property
    def writes(self) -> bool:
        """Whether the source is written."""
        return self.apply and not self.dry_run


@dataclass(frozen=True, slots=True)
class Rejoined:
    """What became of a source."""

    source: Path
    index: Path
    before: str
    """SHA-256 of the source as it was found."""
    after: str
    """SHA-256 of the whole with the edited pieces in it."""
    patch: bytes = b""
    """Empty: there is nothing to change."""
    patch_path: Path | None = None
    """Where the patch was written."""
    applied: bool = False
    restored: tuple[int, ...] = ()
    """Pieces that got back what an editor had lost: a line break, a byte order mark."""
    backup: Path | None = None
    """The source as it was before a forced merge."""
    conflicts: tuple[Span, ...] = ()
    """Lines of the source as it is. Nothing was merged then."""
    conflict_path: Path | None = None
    """The merge with its conflicts marked."""
    trouble: str = ""
    """Why the pieces are those of a plain text although the language is known; else empty."""


def rejoin(where: str, home: Path, way: Way, parser: Parser, source: str | None = None) -> Rejoined:
    """Merge the edited pieces of an index into its source.

    Raises PieceError when index, pieces and source do not fit together; then nothing was written.
    """
    with opened(where, home, source, look=way.dry_run) as (stored, path), _turn(path):
        joined = merge(stored.pieces, _contents(stored))
        now = content(path)
        found = _agreed(stored, path, now, joined.data, way)
        done = Rejoined(
            source=path,
            index=stored.path / NAME,
            before=_digest(now),
            after=_digest(found.data),
            restored=joined.restored,
        )
        if found.conflicts:
            return _refused(done, stored, found, way)
        if found.data != now:
            done = _patched(done, stored, now, found.data, way)
            return _written(done, stored, now, found.data, home, parser) if way.writes else done
        if way.writes and (stored.edited or now != stored.base):
            recut(stored, path, now, Seal(home), parser)
        return done


def _contents(stored: Stored) -> tuple[bytes, ...]:
    if stored.missing:
        raise PieceError(
            f"The piece {stored.missing[0]} is gone from {stored.path}: put it back, empty if its"
            " text is to go."
        )
    return tuple(each for each in stored.contents if each is not None)


def _agreed(stored: Stored, source: Path, now: bytes, edited: bytes, way: Way) -> threeway.Merge:
    """What the source is to be."""
    if now in (stored.base, edited):  # the latter when we were stopped before the pieces were cut
        return threeway.Merge(edited)
    if way.force:
        return threeway.merge(stored.base, now, edited)
    raise PieceError(
        f"{source} was changed since it was split: its SHA-256 was {stored.index.source_sha256}"
        f" and is {_digest(now)}. --force merges both changes."
    )


def _refused(done: Rejoined, stored: Stored, found: threeway.Merge, way: Way) -> Rejoined:
    path = None
    if not way.dry_run:
        path = stored.path / CONFLICT
        _put(path, found.data)
    return replace(done, after=done.before, conflicts=found.conflicts, conflict_path=path)


def _patched(done: Rejoined, stored: Stored, now: bytes, new: bytes, way: Way) -> Rejoined:
    done = replace(done, patch=threeway.unified(done.source, now, new))
    if way.dry_run:
        return done
    _put(stored.path / PATCH, done.patch)
    return replace(done, patch_path=stored.path / PATCH)


def _written(
    done: Rejoined, stored: Stored, now: bytes, new: bytes, home: Path, parser: Parser
) -> Rejoined:
    if now != stored.base:
        backup = stored.path / f"index.backup-{done.before[:12]}"
        _put(backup, now)
        done = replace(done, backup=backup)
    if not whole.replace(done.source, new, now):
        raise PieceError(f"{done.source} was changed at this moment: nothing was written to it.")
    written = recut(stored, done.source, new, Seal(home), parser)
    return replace(done, applied=True, trouble=written.trouble)


def _put(path: Path, content: bytes) -> None:
    try:
        whole.put(path, content)
    except IsADirectoryError as error:
        where = error.filename2 or error.filename
        raise PieceError(f"{where} is in the way of a file: move it.") from None


@contextmanager
def _turn(source: Path) -> Iterator[None]:
    """One process at a time writes a source, whatever the index."""
    with scratch.turn(f"pieces-{_digest(os.fsencode(source))[:16]}"):
        yield


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
