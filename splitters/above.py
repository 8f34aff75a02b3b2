"""Comments that stand right above a line, where the grammar has them in the body before."""

from collections.abc import Iterable, Iterator

from splitters.border import Border


def lifted(borders: Iterable[Border], text: bytes) -> Iterator[Border]:
    """The borders, each before the comments that end right above its line."""
    last = 0
    for border in borders:
        if border.at > last and text[border.at - 1 : border.at] == b"\n":
            border.at = _above(text, border.at, last)
        last = border.at
        yield border


def _above(text: bytes, line: int, least: int) -> int:
    """Where comments begin that end right above a line, at `least` or behind; else the line."""
    while line > least:
        start = text.rfind(b"\n", least, line - 1) + 1 or least
        row = text[start:line].strip()
        if row.endswith(b"*/"):
            begin = text.rfind(b"/*", least, line)
            start = max(text.rfind(b"\n", least, max(begin, least)) + 1, least)
            inside = text.find(b"*/", begin) < text.rfind(b"*/", begin, line)
            if begin < least or inside or text[start:begin].strip():
                return line
        elif not row.startswith(b"//"):
            return line
        line = start
    return line
