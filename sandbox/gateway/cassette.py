"""A folder of recorded model traffic, to be played back without a network and without a key.

    cassette.json    {"version": 1, "model": "anthropic:..."}
    0001.json ...    one exchange each, numbered in the order in which the requests were made

A file appears whole or not at all. No header of a request is kept, and of a response only those
that clients act on; what was secret in a request is asterisks wherever it comes back.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

VERSION = 1

End = Literal["complete", "cut", "closed"]
"""`cut`: the other side broke off. `closed`: whoever asked had read enough."""

T = TypeVar("T", bound=Struct)


class CassetteError(Exception):
    """A cassette cannot be read, or has no answer to a request; the sentence says what to do."""


class Chunk(Struct, frozen=True, omit_defaults=True):
    """A piece of a body as it came, in `text` when it is UTF-8."""

    at: float
    """Seconds after the request was made."""
    text: str = ""
    base64: bytes = b""

    @classmethod
    def of(cls, at: float, content: bytes) -> "Chunk":
        try:
            return cls(at, text=content.decode())
        except UnicodeDecodeError:
            return cls(at, base64=content)

    @property
    def content(self) -> bytes:
        return self.base64 or self.text.encode()


class Exchange(Struct, frozen=True, kw_only=True):
    """One request and what came back."""

    version: int = VERSION
    time: float
    """When the request was made, in Unix seconds."""
    method: str
    target: str
    """The path with its query."""
    body: Any
    """The request's JSON value; a text where it was no JSON."""
    status: int = 0
    """0: no answer came."""
    headers: dict[str, str] = {}
    chunks: tuple[Chunk, ...] = ()
    end: End = "complete"
    error: str = ""
    """What broke it off: the name of an exception, and its words."""


class Label(Struct, frozen=True):
    """What `cassette.json` holds."""

    version: int = VERSION
    model: str = ""
    """`provider:name`, where one model was asked by one client."""


def read(folder: Path) -> tuple[Exchange, ...]:
    """All exchanges in their order; a torn last one is left out.

    Raises CassetteError when there is no cassette, and for a file that is damaged.
    """
    label(folder)
    found = (path for path in folder.glob("*.json") if path.stem.isdecimal())
    paths = sorted(found, key=lambda path: int(path.stem))
    exchanges = []
    for path in paths:
        try:
            exchanges.append(_decode(path, Exchange))
        except CassetteError:
            if path != paths[-1]:
                raise
    return tuple(exchanges)


def label(folder: Path) -> Label:
    """What the cassette says about itself. Raises CassetteError when there is none."""
    path = folder / "cassette.json"
    if not path.is_file():
        raise CassetteError(
            f"There is no recorded model traffic in {folder}: a script, a command and --no-record"
            " leave none."
        )
    return _decode(path, Label)


def size(folder: Path) -> int:
    """Bytes of all files of a cassette; 0 where there is none."""
    return sum(path.stat().st_size for path in folder.glob("*.json"))


def encode(value: Struct) -> bytes:
    """A file's content: JSON, a line for each message, each chunk and each other part of a body."""
    text = "".join(_lines(msgspec.to_builtins(value), 3, "\n")) + "\n"
    # Half a surrogate pair, which JSON can say and UTF-8 cannot, stays escaped.
    return text.encode("utf-8", "backslashreplace")


def _lines(value: Any, levels: int, newline: str) -> Iterator[str]:  # noqa: ANN401
    """Pieces of a JSON text; so many levels have lines of their own, whatever a body holds.

    Of the last level only lists have: a message, a chunk, a tool is one line.
    """
    named = isinstance(value, dict)
    if not value or levels < 1 + named or not isinstance(value, dict | list | tuple):
        yield json.dumps(value, ensure_ascii=False)
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    yield "{" if named else "["
    for number, (name, item) in enumerate(items):
        yield ("," if number else "") + newline + " "
        yield json.dumps(name, ensure_ascii=False) + ": " if named else ""
        yield from _lines(item, levels - 1, newline + " ")
    yield newline + ("}" if named else "]")


def _decode(path: Path, kind: type[T]) -> T:
    try:
        value = json.loads(path.read_bytes())
        found = value.get("version") if isinstance(value, dict) else None
        if found != VERSION:
            raise CassetteError(
                f"{path} is of version {found} of recordings, this program reads version"
                f" {VERSION}: record the run again."
            )
        return msgspec.convert(value, kind)
    except (OSError, ValueError, RecursionError) as problem:
        raise CassetteError(f"{path} cannot be read as a recorded exchange: {problem}") from None
