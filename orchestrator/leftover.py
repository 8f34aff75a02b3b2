"""What split and edit keep in the home folder, and nobody asked for since a time."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.edits import idle
from orchestrator.errors import PieceError
from orchestrator.pieces import numbered, require_merged
from orchestrator.rejoin import CONFLICT, PATCH
from orchestrator.seal import KEY, Seal
from splitters import folder
from splitters.folder import BASE, Stored
from splitters.index import NAME, BadIndexError, Index

_ASIDE = ".removing-"
NOT_OURS = (
    "Not all in it is as `orchestrator split` wrote it: delete it if nothing there is needed."
)
GONE = "{} edited and not merged, and {} is gone: delete it if that is not needed."


def pieces(home: Path, before: float, *, dry: bool) -> Iterator[Path]:
    """Remove the pieces of files that nobody touched since `before`, in Unix seconds.

    What was edited and not merged stays, and so does all that is not as we wrote it. With `dry`
    nothing is removed.
    """
    for place in _folders(home / "pieces"):
        with suppress(OSError), folder.locked(place):
            if _spare(place, place, home, before) and (dry or _removed(place, home, before)):
                yield place


def _removed(place: Path, home: Path, before: float) -> bool:
    """Remove a folder, unless an edit was saved in it since it was looked at.

    Under another name no editor finds it: what was saved before is seen, and nothing comes after.
    """
    aside = place.with_name(f"{_ASIDE}{place.name}")
    os.rename(place, aside)
    if not _spare(place, aside, home, before):
        os.rename(aside, place)
        return False
    _drop(aside)
    return True


def _drop(aside: Path) -> None:
    """Without its index it is to go, also when we are killed."""
    (aside / NAME).unlink(missing_ok=True)
    shutil.rmtree(aside)


def settle(home: Path, *, dry: bool) -> Iterator[Path]:
    """Bring to its end what a killed removal began, and yield the pieces that go.

    What it had not yet decided is put back, unless those of a new split are there and the old ones
    are ours and merged. With `dry` nothing is changed.
    """
    top = home / "pieces"
    for aside in sorted(top.glob(f"{_ASIDE}*")):
        place = top / aside.name.removeprefix(_ASIDE)
        with suppress(OSError), folder.locked(aside):
            undecided = (aside / NAME).exists()
            if undecided and not place.exists():
                if not dry:
                    os.rename(aside, place)
            elif not undecided or not _hindrance(place, aside, home):
                if not dry:
                    _drop(aside)
                yield place


def conversations(home: Path, before: float, *, dry: bool) -> Iterator[Path]:
    """Remove what was said about files, also in the archive, and not gone on with since."""
    for place in _folders(home / "edits"):
        for path in idle(place, before):
            if not dry:
                path.unlink(missing_ok=True)
            yield path


@dataclass(frozen=True, slots=True)
class Staying:
    """A folder of pieces that `pieces` never removes, however old it is."""

    path: Path
    why: str
    """In a sentence, with what to do to end it."""


def staying(home: Path) -> tuple[Staying, ...]:
    """The folders that `pieces` would never remove."""
    found = []
    for place in _folders(home / "pieces"):
        why = NOT_OURS
        with suppress(OSError), folder.locked(place):
            why = _hindrance(place, place, home)
        if why:
            found.append(Staying(place, why))
    return tuple(found)


def rest(home: Path, *, dry: bool) -> Iterator[Path]:
    """Remove what no run, no piece and no conversation is in, and the home folder when it is empty.

    That are copies of remote repositories, logs, and, where no pieces are left, the key of those
    that were written elsewhere.
    """
    names = ("clones", "logs") if staying(home) else ("clones", "logs", KEY)
    for path in (home / name for name in names):
        if path.exists():
            if not dry:
                _remove(path)
            yield path
    if not dry:
        _remove_empty(home)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _remove_empty(home: Path) -> None:
    """What is left of folders without anything in them that was asked for."""
    if not any((home / "edits").rglob("*.jsonl")):
        shutil.rmtree(home / "edits", ignore_errors=True)
    for path in (*(home / name for name in ("pieces", "packs")), home):
        with suppress(OSError):
            path.rmdir()


def _folders(top: Path) -> list[Path]:
    return sorted(path for path in top.glob("*") if path.is_dir() and not path.is_symlink())


def _spare(place: Path, now: Path, home: Path, before: float) -> bool:
    """Whether all of a folder, which is at `now`, is ours, merged and old."""
    if _hindrance(place, now, home):
        return False
    return all(path.lstat().st_mtime < before for path in (now, *now.iterdir()))


def _hindrance(place: Path, now: Path, home: Path) -> str:
    """Why a folder, which is at `now`, is not to be removed; empty: all in it is ours, merged."""
    try:
        stored = folder.read(place, _ours(home), now)
        require_merged(stored)
        others = [path.name for path in now.iterdir() if not _is_ours(path.name, stored)]
    except PieceError as error:
        gone = not os.path.lexists(stored.index.source_path)
        return (
            GONE.format(numbered(stored.edited), stored.index.source_path) if gone else str(error)
        )
    except (OSError, BadIndexError):
        return NOT_OURS
    return NOT_OURS if others or stored.missing else ""


def _ours(home: Path) -> folder.Check:
    def check(index: Index) -> None:
        if not Seal(home).holds(index):
            raise BadIndexError("it is not as it was written here")

    return check


def _is_ours(name: str, stored: Stored) -> bool:
    return name in {NAME, BASE, PATCH, CONFLICT, *stored.index.names} or name.startswith(
        "index.backup-"
    )
