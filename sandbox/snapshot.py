"""What crosses out of a sandbox: one tree id and a pack of the objects that lead to it."""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from sandbox.channel import Channel, Chunk
from sandbox.disk import PLENTY, Left, Room, says_full
from sandbox.errors import CrossingError, CrowdedError, DiskFullError, KilledError
from sandbox.memory import SIGNALLED
from sandbox.stream import Exit

PACK_CAP = 50_000_000
"""Bytes of pack that one snapshot may bring out."""
HEADER_CAP = 1 << 20
CROWDED = 75
"""What the program in the sandbox ends with when no process is left to start."""
COMPLAINT_CAP = 2_000
SECONDS = 120.0
REHASH_SECONDS = 600.0
"""Every file is read again: some seconds for 80,000 files, more on a busy disk."""

OBJECT_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of /workspace at one moment, as a sandbox tells it: to be checked, not believed."""

    tree: str
    pack: Path | None
    """What the previous tree lacks, thin against it; None when the trees are the same."""
    left_out: tuple[str, ...] = ()
    """Paths no tree can hold: inner repositories, unreadable files, pipes, sockets, devices."""
    ignored: tuple[str, ...] = ()
    """Paths that a `.gitignore` keeps out and that set-up had not left."""
    left_out_total: int = 0
    ignored_total: int = 0
    """How many there are: the lists end after 1,000 paths."""
    left: Left = field(default=Left(PLENTY, PLENTY), compare=False)
    """The room for more files; no part of what was recorded."""


@dataclass(frozen=True, slots=True)
class Header:
    """The line in front of a pack, parsed."""

    tree: str
    left: Left
    pack: int = 0
    left_out: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    left_out_total: int = 0
    ignored_total: int = 0


def take(
    channel: Channel,
    previous: str,
    pack: Path,
    *,
    cap: int = PACK_CAP,
    seconds: float = SECONDS,
    anew: bool = False,
) -> Snapshot:
    """Record the files; `pack` is written when they differ from the tree `previous`.

    With `anew` no cache is believed, as in `rehash`: it takes as long as that.
    Raises CrossingError when what comes out is too large, too late or malformed, DiskFullError.
    """
    with pack.open("wb") as file, _removed_on_error(pack):
        how = "anew" if anew else "record"
        header = _ask(channel, [how, previous], seconds, file, cap)
    if (header.tree == previous) != (header.pack == 0):
        pack.unlink()
        raise CrossingError("The sandbox sent a pack that does not fit its tree: start again.")
    if not header.pack:
        pack.unlink()
    return Snapshot(
        header.tree,
        pack if header.pack else None,
        header.left_out,
        header.ignored,
        header.left_out_total,
        header.ignored_total,
        header.left,
    )


def rehash(channel: Channel, *, seconds: float = REHASH_SECONDS) -> str:
    """The tree of the files as they are, found without any cache; must equal the recorded one.

    Raises CrossingError, DiskFullError.
    """
    return _ask(channel, ["rehash"], seconds).tree


def reset(
    channel: Channel, pack: Path | None, tree: str, *, seconds: float = REHASH_SECONDS
) -> None:
    """Make the files exactly `tree`, whose objects are in `pack` or in the base.

    What set-up left untracked stays. Raises CrossingError when the files are not `tree` after it.
    """
    objects = pack.read_bytes() if pack else b""
    _ask(channel, ["reset", tree, str(len(objects))], seconds, stdin=objects)
    if (found := rehash(channel, seconds=seconds)) != tree:
        raise CrossingError(f"The sandbox's files are {found} and not {tree}: start the run again.")


class _Intake:
    """Sorts the arriving bytes: up to the first newline the header, then the pack."""

    def __init__(self, pack: BinaryIO | None, cap: int) -> None:
        self.header: Header | None = None
        self.complaint = b""
        self._pack = pack
        self._cap = cap
        self._line = b""
        self._missing = 0

    def take(self, chunk: Chunk) -> None:
        if chunk.stream == "stderr":
            self.complaint = (self.complaint + chunk.data)[-COMPLAINT_CAP:]
        elif self.header is None:
            self._begin(chunk.data)
        else:
            self._store(chunk.data)

    def _begin(self, data: bytes) -> None:
        self._line += data
        line, newline, rest = self._line.partition(b"\n")
        if len(line) > HEADER_CAP:
            raise CrossingError(f"The sandbox's answer is longer than {HEADER_CAP} bytes.")
        if not newline:
            return
        self.header = parse(line)
        self._missing = self.header.pack
        if self._missing > self._cap:
            raise CrossingError(
                f"The changes of one step are {self._missing:,} bytes packed, more than the limit "
                f"of {self._cap:,} (PACK_CAP): keep large files out of the tree, as by .gitignore."
            )
        self._store(rest)

    def _store(self, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing < 0:
            raise CrossingError("The sandbox sent more than it announced: start the run again.")
        if self._pack is not None:
            self._pack.write(data)

    def whole(self) -> Header:
        """The header, when everything announced has come."""
        if self.header is None or self._missing:
            raise CrossingError("The sandbox's answer is incomplete: start the run again.")
        return self.header


def _ask(
    channel: Channel,
    arguments: list[str],
    seconds: float,
    pack: BinaryIO | None = None,
    cap: int = 0,
    stdin: bytes = b"",
) -> Header:
    """Ask; once more when other processes left no room for ours, after an end of them all."""
    try:
        return _asked(channel, arguments, seconds, pack, cap, stdin)
    except CrowdedError:
        channel.sweep()
        return _asked(channel, arguments, seconds, pack, cap, stdin)


def _asked(
    channel: Channel,
    arguments: list[str],
    seconds: float,
    pack: BinaryIO | None,
    cap: int,
    stdin: bytes,
) -> Header:
    intake = _Intake(pack, cap)
    items = channel.call("snapshot", *arguments, stdin=stdin, seconds=seconds)
    with contextlib.closing(items):
        _judge(_drained(items, intake), intake.complaint, arguments[0], seconds)
    return intake.whole()


def _drained(items: Iterable[Chunk | Exit], intake: _Intake) -> Exit:
    for item in items:
        if isinstance(item, Exit):
            return item
        intake.take(item)
    raise CrossingError("The sandbox's answer has no end: start the run again.")


def _judge(end: Exit, complaint: bytes, what: str, seconds: float) -> None:
    said = complaint.decode("utf-8", "replace").strip()
    if end.timed_out:
        raise CrossingError(
            f"The sandbox's files could not be read within {seconds:g} seconds ({what}): "
            "look for huge or endless files there."
        )
    if says_full(said):
        raise DiskFullError(f"The sandbox's disk is full: leave less behind. ({said})", said)
    if end.status == CROWDED:
        raise CrowdedError(
            "The sandbox's files cannot be recorded, for its processes leave no room for another: "
            f"raise `pids` under [sandbox]. ({said})"
        )
    if not end.ok:
        message = f"The sandbox's files cannot be recorded: {said or end.status}"
        killed = end.status >= SIGNALLED
        raise KilledError(message, end.status) if killed else CrossingError(message)


def parse(line: bytes) -> Header:
    """The header a sandbox sent; nothing in it is trusted to have the right form.

    Raises CrossingError.
    """
    try:
        facts: Any = json.loads(line)
        header = Header(
            facts["tree"],
            _left(*facts["room"]),
            facts.get("pack", 0),
            tuple(facts.get("left_out", ())),
            tuple(facts.get("ignored", ())),
            facts.get("left_out_total", 0),
            facts.get("ignored_total", 0),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CrossingError(f"The sandbox's answer is malformed: {error}") from error
    if not _well_formed(header):
        raise CrossingError("The sandbox's answer is malformed: a value of another kind.")
    return header


def _left(root: Iterable[int], workspace: Iterable[int]) -> Left:
    return Left(Room(*root), Room(*workspace))


def _well_formed(header: Header) -> bool:
    rooms = (header.left.root, header.left.workspace)
    told = (number for room in rooms for number in (room.size, room.files))
    numbers = (header.pack, header.left_out_total, header.ignored_total, *told)
    return (
        isinstance(header.tree, str)
        and OBJECT_ID.fullmatch(header.tree) is not None
        and all(type(number) is int and number >= 0 for number in numbers)
        and all(isinstance(path, str) for path in (*header.left_out, *header.ignored))
    )


@contextlib.contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink()
        raise
