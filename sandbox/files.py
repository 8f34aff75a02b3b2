"""The files of a sandbox: read, written and searched by a small program in it."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from sandbox import values
from sandbox.channel import Channel, Chunk
from sandbox.stream import Exit

READ = 16 << 20
"""Bytes of the largest file that is read, unless the caller says otherwise."""
ANSWER = 16 << 20
"""Bytes of an answer besides a file's content; 200 of the longest names stay below."""
PATIENCE = 20
"""Whole seconds after which the program ends itself."""
SECONDS = 60.0
"""Should it not, the whole sandbox is swept after this time."""
OUT_OF_TIME = 128 + 14
"""What the program ends with when its own alarm rings."""
DISTURBED = "another process in the sandbox disturbed the answer: stop it, and try again"


Kind = TypeVar("Kind")
Guard = Callable[[str, str], None]
"""Is asked before a path changes; of a move, with the new name. A FileError refuses the change."""


def anything(path: str, renamed: str) -> None:
    """The guard that refuses nothing."""


class FileError(Exception):
    """What is wrong with a file or a request, in a sentence for whoever asked, often a model."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Names in order, at most 200."""

    names: tuple[str, ...]
    more: int
    """How many names are not here."""

    @property
    def text(self) -> str:
        """One name a line, and a last line that says when some are missing."""
        marker = (f"[{self.more} more]",) if self.more else ()
        return "\n".join((*self.names, *marker))


@dataclass(frozen=True, slots=True)
class Match:
    """A line that fits, or its first 500 characters; `number` counts from 1."""

    path: str
    number: int
    line: str


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search found, in the order of paths."""

    matches: tuple[Match, ...]
    more: bool
    """True when the search stopped at its limit."""

    @property
    def text(self) -> str:
        """Each match as path:number:line, and a last line that says when some are missing."""
        marker = ("[more matches exist]",) if self.more else ()
        return "\n".join((*(f"{m.path}:{m.number}:{m.line}" for m in self.matches), *marker))


@dataclass(frozen=True, slots=True)
class Stat:
    """What a name stands for; a link is not followed."""

    kind: Literal["file", "folder", "link", "other"]
    size: int
    mode: int
    """Permission bits."""
    target: str
    """Where a link points; else empty."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A regular file as it was found: its content and permission bits."""

    content: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class Swap:
    """One file of a change of several: what it was when it was read, and what it shall be."""

    path: str
    old: bytes | None
    """None where no file may be."""
    new: bytes | None
    """None for a file that goes."""
    mode: int | None = None
    """Permission bits of what shall be; None for those of any new file."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Mode and size of each file; their contents follow, joined."""

    files: tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search answers, before each match has its name."""

    matches: tuple[tuple[str, int, str], ...]
    more: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    result: dict[str, object]
    content: bytes

    def of(self, kind: type[Kind]) -> Kind:
        """The result as a value of this kind, which only our own program is sure to send."""
        return _converted(self.result, kind)


class Files:
    """Files as the user who works in the sandbox sees them; relative paths start at /workspace.

    Names that are not UTF-8 hold surrogates, as in `os.fsdecode`. Every method raises FileError for
    what is wrong with the request and SandboxLostError when the container died.
    """

    def __init__(self, channel: Channel, guard: Guard = anything) -> None:
        self._channel = channel
        self._guard = guard

    def read(self, path: str, limit: int = READ) -> bytes:
        """The whole content; a FileError tells the size of a file of more than `limit` bytes."""
        return self._ask({"do": "read", "path": path, "limit": limit}, limit=limit).content

    def write(self, path: str, content: bytes) -> None:
        """Replace the content in one step, keeping the mode, or make the file and its folders."""
        self._guard(path, "")
        self._ask({"do": "write", "path": path, "size": len(content)}, content)

    def delete(self, path: str) -> None:
        """Delete a file or a link, not a folder."""
        self._guard(path, "")
        self._ask({"do": "delete", "path": path})

    def move(self, source: str, destination: str) -> None:
        """Rename a file or folder; an existing destination is an error."""
        self._guard(source, destination)
        self._ask({"do": "move", "source": source, "destination": destination})

    def gather(self, paths: Sequence[str], limit: int = READ) -> tuple[Kept | None, ...]:
        """Regular files of /workspace, in the order of the paths; None for what is not there.

        A path through a symbolic link or into `.git`, or more than `limit` bytes together, is a
        FileError.
        """
        request = {"do": "gather", "paths": list(paths), "limit": limit}
        answer = self._ask(request, limit=limit)
        rest = answer.content
        found: list[Kept | None] = []
        for facts in answer.of(_Gathered).files:
            if facts is None:
                found.append(None)
                continue
            mode, size = facts
            kept = Kept(rest[:size], mode)
            rest = rest[size:]
            if len(kept.content) != size:
                raise FileError(DISTURBED)
            found.append(kept)
        if len(found) != len(paths) or rest:
            raise FileError(DISTURBED)
        return tuple(found)

    def swap(self, swaps: Sequence[Swap]) -> None:
        """Change several files of /workspace together, or none of them.

        A file that is no longer what it was read as stops everything, as does a path that `gather`
        refuses; the FileError says that nothing was changed, or what could not be put back.
        """
        for each in swaps:
            self._guard(each.path, "")
        edits = [
            {
                "path": each.path,
                "old": None if each.old is None else hashlib.sha256(each.old).hexdigest(),
                "size": None if each.new is None else len(each.new),
                "mode": each.mode,
            }
            for each in swaps
        ]
        content = b"".join(each.new for each in swaps if each.new is not None)
        self._ask({"do": "change", "edits": edits}, content)

    def stat(self, path: str) -> Stat:
        """What lies at this path."""
        return self._ask({"do": "stat", "path": path}).of(Stat)

    def list(self, path: str = ".") -> Listing:
        """The names in a folder; folders end with a slash."""
        return self._listing({"do": "list", "path": path})

    def glob(self, pattern: str, path: str = ".") -> Listing:
        """Files below a folder whose path fits; `**` stands for any number of folders."""
        return self._listing({"do": "glob", "pattern": pattern, "path": path})

    def find(self, name: str, path: str = ".") -> Listing:
        """Files anywhere below a folder whose name fits a pattern like `*.py`."""
        return self._listing({"do": "find", "name": name, "path": path})

    def grep(self, pattern: str, path: str = ".", glob: str = "", limit: int = 200) -> Matches:
        """Lines in which a regular expression of Python's `re` is found.

        Searches the file, or all text files below the folder, but not `.git`; `glob` narrows them
        by name, or by path when it has a slash.
        """
        request = {"do": "grep", "pattern": pattern, "path": path, "glob": glob, "limit": limit}
        found = self._ask(request).of(_Found)
        return Matches(tuple(Match(*match) for match in found.matches), found.more)

    def _listing(self, request: Mapping[str, object]) -> Listing:
        return self._ask(request).of(Listing)

    def _ask(
        self, request: Mapping[str, object], content: bytes = b"", *, limit: int = 0
    ) -> _Answer:
        head = json.dumps({**request, "seconds": PATIENCE})
        stdin = head.encode("ascii") + b"\n" + content
        answer, _, rest = self._output(stdin, limit + ANSWER).partition(b"\n")
        result = _parsed(answer)
        if "error" in result:
            raise FileError(str(result["error"]))
        return _Answer(result, rest)

    def _output(self, stdin: bytes, limit: int) -> bytes:
        said = {"stdout": bytearray(), "stderr": bytearray()}
        for item in self._channel.call("files", stdin=stdin, seconds=SECONDS):
            if isinstance(item, Chunk):
                said[item.stream] += item.data[: limit - len(said[item.stream])]
            elif not item.ok:
                raise FileError(_ended(item, bytes(said["stderr"])))
        return bytes(said["stdout"])


def _parsed(answer: bytes) -> dict[str, object]:
    """A process of the same user can write into the program's output: it may be anything."""
    if values.too_many(answer):
        raise FileError(DISTURBED)
    try:
        return _converted(json.loads(answer), dict[str, object])
    except (ValueError, RecursionError):
        raise FileError(DISTURBED) from None


def _converted(result: object, kind: type[Kind]) -> Kind:
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError:
        raise FileError(DISTURBED) from None


def _ended(exit: Exit, said: bytes) -> str:
    if exit.status == OUT_OF_TIME:
        return "this took too long; search a smaller folder or with a simpler pattern"
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"the program for files ended with {exit.status}: {last or 'it said nothing'}"
