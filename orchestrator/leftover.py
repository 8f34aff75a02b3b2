"""What split and edit keep in the home folder, and nobody asked for since a time."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from orchestrator.edits import idle
from orchestrator.errors import PieceError
from orchestrator.pieces import require_merged
from orchestrator.rejoin import PATCH
from orchestrator.seal import Seal
from splitters import folder
from splitters.folder import BASE, Stored
from splitters.index import NAME, BadIndexError, Index


def pieces(home: Path, before: float, *, dry: bool) -> Iterator[Path]:
    """Remove the pieces of files that nobody touched since `before`, in Unix seconds.

    What was edited and not merged stays, and so does all that is not as we wrote it. With `dry`
    nothing is removed.
    """
    for place in _folders(home / "pieces"):
        with suppress(OSError, BadIndexError, PieceError), folder.locked(place):
            if _spare(place, home, before):
                if not dry:
                    shutil.rmtree(place)
                yield place


def conversations(home: Path, before: float, *, dry: bool) -> Iterator[Path]:
    """Remove what was said about files, also in the archive, and not gone on with since."""
    for place in _folders(home / "edits"):
        for path in idle(place, before):
            if not dry:
                path.unlink(missing_ok=True)
            yield path


def _folders(top: Path) -> list[Path]:
    return sorted(path for path in top.glob("*") if path.is_dir() and not path.is_symlink())


def _spare(place: Path, home: Path, before: float) -> bool:
    """Whether all of it is ours, merged and old."""
    stored = folder.read(place, _ours(home))
    require_merged(stored)
    paths = [place, *place.iterdir()]
    ours = all(_is_ours(path.name, stored) for path in paths[1:])
    young = any(path.lstat().st_mtime >= before for path in paths)
    return ours and not young and not stored.missing


def _ours(home: Path) -> folder.Check:
    def check(index: Index) -> None:
        if not Seal(home).holds(index):
            raise BadIndexError("it is not as it was written here")

    return check


def _is_ours(name: str, stored: Stored) -> bool:
    return name in {NAME, BASE, PATCH, *stored.index.names} or name.startswith("index.backup-")
