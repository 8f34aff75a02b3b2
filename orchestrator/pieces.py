"""The pieces of a file on disk: cut, and cut anew."""

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path

import splitters
from orchestrator.errors import OrchestratorError, PieceError, UsageError
from orchestrator.parser import LARGEST, Parser, Parted
from orchestrator.seal import Seal
from orchestrator.told import Tell, known, noted
from splitters import folder
from splitters.folder import Stored
from splitters.index import NAME, BadIndexError, Index, UnreadableError, of


@dataclass(frozen=True, slots=True)
class Cut:
    """How a file is to be cut."""

    language: str | None = None
    """A name, an alias or a suffix; None: what the file is found to be."""
    target: int = splitters.TARGET
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """An index, and where it is."""

    path: Path
    index: Index
    trouble: str = ""
    """Why a file whose language is known was cut as plain text; else empty."""
    stopped: OrchestratorError | KeyboardInterrupt | None = None
    """Why not all pieces have the summary that was asked for."""


def split(
    source: str,
    how: Cut,
    home: Path,
    parser: Parser,
    output: str | None = None,
    tell: Tell | None = None,
) -> Written:
    """Write the pieces of a file and their index, with summaries when somebody is there to `tell`.

    Without `output` that is a folder of the file's own under `home`, so that nothing of ours comes
    into a repository unasked. A folder that holds something else is left as it is, and one inside
    it taken. Raises PieceError when pieces there were edited and not merged yet.
    """
    if output == "":
        raise UsageError("--output is empty: name a folder.")
    path = existing(source)
    data = content(path)
    cut = _cut(path, data, how, parser)
    place = _text(Path(output) if output is not None else _own(path, home))
    seal = Seal(home)
    for each in _places(place, path.name):
        _make(each)
        with folder.locked(each):
            index = of(cut.pieces, str(path), str(each), _now())
            old = _own_before(each, path, seal)
            if old is not None:
                require_merged(old)
            if old is not None or folder.free(each, index):
                return _store(index, cut, seal, old, tell)
    raise AssertionError("there is always one more place")


def refresh(
    where: str, home: Path, parser: Parser, source: str | None = None, tell: Tell | None = None
) -> Written:
    """Cut the source of an index anew, as it was cut before.

    Raises PieceError when edited pieces would be lost.
    """
    with opened(where, home, source, naming="behind the index") as (stored, path):
        require_merged(stored)
        return recut(stored, path, content(path), Seal(home), parser, tell)


def discard(
    where: str, home: Path, parser: Parser, source: str | None = None
) -> tuple[Written, tuple[int, ...]]:
    """Cut the source of an index anew and drop what was edited; the numbers of those pieces."""
    with opened(where, home, source) as (stored, path):
        written = recut(stored, path, content(path), Seal(home), parser)
        return written, tuple(stored.edited)


@contextmanager
def opened(
    where: str,
    home: Path,
    source: str | None = None,
    *,
    look: bool = False,
    naming: str = "with --source",
) -> Iterator[tuple[Stored, Path]]:
    """The folder of an index, locked and checked, and the source that its pieces are of.

    `source` names a file for an index that is not ours or whose file was renamed; `naming` says how
    a person does. With `look` nothing is written. Raises PieceError, and UsageError when a file
    cannot be read.
    """
    place = _folder(where)
    seal = Seal(home)

    def check(index: Index) -> None:
        if source is None and not seal.holds(index):
            raise PieceError(
                f"{place / NAME} is not as `orchestrator split` wrote it here, so it is not"
                f" followed: if you trust it, name the file it is for {naming}."
            )

    with folder.locked(place):
        try:
            if folder.unfinished(place):
                _finish(place, check, look)
            stored = folder.read(place, check)
            splitters.split(b"", stored.index.language)  # before anything is written
        except UnreadableError as error:
            raise UsageError(f"{place}/{error}.") from None
        except (BadIndexError, splitters.UnknownLanguageError) as error:
            raise PieceError(f"{place / NAME} is refused: {error}: split the file again.") from None
        yield stored, existing(source) if source is not None else _source(stored.index, naming)


def recut(
    stored: Stored,
    source: Path,
    data: bytes,
    seal: Seal,
    parser: Parser,
    tell: Tell | None = None,
) -> Written:
    """Put the pieces of `data` into the place of those that are stored."""
    before = stored.index
    how = Cut(before.language, before.target_bytes, before.natural)
    cut = _cut(source, data, how, parser)
    index = of(cut.pieces, str(source), str(stored.path), _now())
    return _store(index, cut, seal, stored, tell)


def require_merged(stored: Stored) -> None:
    """Raise PieceError when a piece was edited and not merged."""
    if stored.edited:
        raise PieceError(
            f"{numbered(stored.edited)} edited and not merged: merge that with"
            f" `orchestrator patch --index {stored.path / NAME}`, or drop it with the same and"
            " --discard."
        )


def numbered(numbers: Sequence[int]) -> str:
    """`Piece 2 was`, or `Pieces 2, 5 were`."""
    some = ", ".join(map(str, numbers))
    return f"Piece {some} was" if len(numbers) == 1 else f"Pieces {some} were"


def existing(source: str) -> Path:
    """The plain file that a name leads to, through symbolic links.

    Raises PieceError when there is none, and UsageError when it cannot be read.
    """
    path = Path(os.path.realpath(source))
    if not stat.S_ISREG(_mode(path, source, "Source")):
        raise UsageError(f"{source} is no plain file: name one.")
    return _text(path)


def _mode(path: Path, name: str, what: str) -> int:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise PieceError(f"{what} file not found: {name}; check the path.") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.") from None


def content(path: Path) -> bytes:
    """All of a file. Raises UsageError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _source(index: Index, naming: str) -> Path:
    """Where the source was. A link that stands there now would lead to another file."""
    if not os.path.lexists(index.source_path):
        raise PieceError(
            f"Source file not found: {index.source_path}; if it was renamed, name it {naming}."
        )
    path = existing(index.source_path)
    if str(path) != index.source_path:
        raise PieceError(f"{index.source_path} leads to {path} now: name that one {naming}.")
    return path


def _store(index: Index, cut: Parted, seal: Seal, old: Stored | None, tell: Tell | None) -> Written:
    told = known(old.index if old else None)
    if old and old.index.source_sha256 != index.source_sha256:
        told = replace(told, whole=None)
    if tell is not None:
        told = tell(cut.pieces, told)
    place = Path(index.segments[0].path).parent
    sealed = seal.put(noted(index, told))
    folder.write(place, sealed, cut.pieces.data, old)
    return Written(place / NAME, sealed, cut.trouble, told.stopped)


def _cut(path: Path, data: bytes, how: Cut, parser: Parser) -> Parted:
    if how.target < 1:
        raise UsageError(f"The target is {how.target}; it has to be 1 byte or more.")
    language = how.language.lower().removeprefix(".") if how.language is not None else None
    if len(data) > LARGEST:
        cut = splitters.split(data, None, how.target, how.natural)
        return Parted(cut, "it is too large to be parsed; it is cut as plain text")
    try:
        return parser.split(
            data, path.name, language=language, target=how.target, natural=how.natural
        )
    except splitters.UnknownLanguageError as error:
        raise UsageError(str(error)) from None


def _own(path: Path, home: Path) -> Path:
    return home / "pieces" / f"{path.name[:60]}-{sha256(os.fsencode(path)).hexdigest()[:12]}"


def _places(place: Path, name: str) -> Iterator[Path]:
    """Folders to try, the best first."""
    yield place
    yield place / f"{name[:60]}-pieces"
    yield from (place / f"{name[:60]}-pieces-{number}" for number in count(2))


def _make(place: Path) -> None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{place} is in the way of a folder: name another --output.") from None
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise
        raise UsageError(f"{place} cannot be a folder: name another --output.") from None


def _own_before(place: Path, source: Path, seal: Seal) -> Stored | None:
    """What is in a folder that holds pieces of the same file already."""

    def check(index: Index) -> None:
        if not seal.holds(index) or index.source_path != str(source):
            raise BadIndexError("it is of another file")

    try:
        if folder.unfinished(place):
            folder.finish(place, check)
        return folder.read(place, check)
    except BadIndexError:
        return None


def _folder(where: str) -> Path:
    """The folder of an index that is named by its path or by that of its folder."""
    path = Path(where)
    is_folder = stat.S_ISDIR(_mode(path, where, "Index"))
    if not is_folder and path.name != NAME:
        raise UsageError(f"{where} is no index: name the {NAME} that `orchestrator split` wrote.")
    place = _text(path if is_folder else path.parent)
    try:
        os.scandir(place).close()
    except PermissionError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}.") from None
    return place


def _finish(place: Path, check: folder.Check, look: bool) -> None:
    if look:
        raise PieceError(
            f"An earlier command was stopped while it wrote to {place}: run this one without"
            " --dry-run, and it is finished first."
        )
    folder.finish(place, check)


def _text(path: Path) -> Path:
    """The path without links. An index is UTF-8, so it has to be text."""
    real = Path(os.path.realpath(path))
    if str(real) != str(real).encode("utf-8", "replace").decode():
        raise UsageError(f"The path {str(real)!a} is not text in UTF-8: rename what is not.")
    return real


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
