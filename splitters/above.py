"""Comments that stand right above a line, where the grammar has them in the body before."""

from collections.abc import Iterable, Iterator

from splitters.border import Border


def lifted(borders: Iterable[Border], text: bytes) -> Iterator[Border]:
    """The borders, each before the comments that end right above its line.

    Comments that have borders of their own stay as they are.
    """
    last = 0
    for border in borders:
        line = border.at
        if line > last and text[line - 1 : line] == b"\n":
            above = _above(text, line, last)
            border.at = above if above > last else line
        last = line
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
