"""How the bytes of a text are to be read: its encoding and its line endings."""

import codecs
import re

from splitters.source import MARKS, wide

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), *MARKS)
_ENDINGS = {b"\r\n": "crlf", b"\n": "lf", b"\r": "cr"}


def mark(data: bytes) -> bytes:
    """The byte order mark at its start, or nothing."""
    return next((each for each, _ in _MARKS if data.startswith(each)), b"")


def encoding(data: bytes) -> str:
    """`utf-8`, what a byte order mark says, `binary`, or `8-bit`: one of the many old ones.

    UTF-16 is told without a mark, too.
    """
    for each, name in _MARKS:
        if data.startswith(each):
            return name
    if name := wide(data):
        return name
    if b"\0" in data:
        return "binary"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "8-bit"
    return "utf-8"


def text(data: bytes, start: int = 0, end: int | None = None) -> str:
    """What a file says between two offsets, without a mark; what cannot be read is U+FFFD.

    A character of two or four bytes belongs to where it ends.
    """
    name = encoding(data)
    width = int(name[4:6]) // 8 if name.startswith(("utf-16", "utf-32")) else 1
    start -= start % width
    end = len(data) if end in (None, len(data)) else end - end % width
    read = data[start:end].decode(name if width > 1 else "utf-8", "replace")
    return read.removeprefix("\ufeff") if start == 0 else read


def line_ending(data: bytes) -> str:
    """`lf`, `crlf`, `cr`, `mixed`, or `none` where there is no line break."""
    name = encoding(data)
    if name.startswith(("utf-16", "utf-32")):
        data = data.decode(name, "replace").encode("utf-8", "replace")
    found = {_ENDINGS[each] for each in set(re.findall(rb"\r\n|\n|\r", data))}
    return found.pop() if len(found) == 1 else "mixed" if found else "none"
