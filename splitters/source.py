"""What of a file is parsed and measured: one byte a code unit, a line feed at each line's end."""

import re
from dataclasses import dataclass

MARKS = (
    (b"\xff\xfe\0\0", "utf-32-le"),  # before UTF-16, whose mark it begins with
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
LEAST = 8
"""Bytes of UTF-16 without a mark; in fewer a NUL says too little."""
SAMPLE = 4096
"""Bytes that are looked at for the zeros of UTF-16 without a mark."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file as the parser sees it: the same places, `width` bytes of the file for each byte.

    A lone carriage return is a line feed here. Of UTF-16 and UTF-32 each code unit is one byte:
    ASCII is itself, a surrogate pair is one two-byte character of UTF-8, the mark at the start a
    space, all else the letter x.
    """

    text: bytes
    width: int = 1


def read(data: bytes) -> Source:
    """A file as the parser sees it."""
    if encoding := wide(data):
        width = 4 if encoding.startswith("utf-32") else 2
        return Source(_line_fed(_narrow(data, encoding, width)), width)
    return Source(_line_fed(data))


def wide(data: bytes) -> str:
    """UTF-32 by its mark, UTF-16 by that or by its zeros, as Python names them; empty: neither."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    if len(data) < LEAST or len(data) % 2:
        return ""
    low, high = data[1:SAMPLE:2], data[0:SAMPLE:2]
    for zeros, others, name in ((low, high, "utf-16-le"), (high, low, "utf-16-be")):
        if zeros.count(0) * 2 > len(zeros) and others.count(0) * 4 < zeros.count(0):
            return name
    return ""


def _narrow(data: bytes, encoding: str, width: int) -> bytes:
    rest = len(data) % width
    text = data[: len(data) - rest].decode(encoding, "surrogatepass" if width == 2 else "replace")
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    text = re.sub("[\x80-\uffff]", "x", text)
    text = re.sub("[\U00010000-\U0010ffff]", "\xc2\x80" if width == 2 else "x", text)
    return text.encode("latin-1") + b"x" * (rest > 0)


def _line_fed(text: bytes) -> bytes:
    lone = b"\r" in text and text.count(b"\r") > text.count(b"\r\n")
    if not lone:
        return text
    # So it is ten times as fast as with a regular expression, where there is nothing else.
    return b"\r\n".join(part.replace(b"\r", b"\n") for part in text.split(b"\r\n"))
