"""Text that is fit for a terminal: clean, coloured, cut and set in columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

_ESCAPES = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?             # CSI: colours, moves of the cursor
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] )             # OSC, DCS, SOS, PM, APC: titles, links,
      .*? (?: \x07 | \x1b\\ | \x9c | $ )                   #   the clipboard, up to their end
    | \x1b [ -/]* [0-~]?                                   # all other escapes
    """,
    re.VERBOSE | re.DOTALL,
)


def clean(line: str) -> str:
    """One line without anything that a terminal obeys or that turns the direction of writing.

    After a carriage return a terminal writes over the line: the last writing is kept.
    """
    line = line.rstrip("\r").rpartition("\r")[2].expandtabs(4)
    return "".join(char for char in _ESCAPES.sub("", line) if char.isprintable())


def visible(line: str) -> str:
    """One line with all that is in it: what a terminal would obey or hide shows as an escape.

    For contents under review: `clean` would take away what a reviewer has to see.
    """
    return "".join(map(_visible, line.removesuffix("\r").expandtabs(4)))


def _visible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def clean_lines(text: str) -> list[str]:
    """All lines of a text, each clean."""
    return [clean(line) for line in text.split("\n")]


def cut(line: str, width: int) -> str:
    """At most `width` characters."""
    return line if len(line) <= width else line[: width - 1] + "…"


def wrapped(text: str, width: int) -> list[str]:
    """A text as lines of at most `width` characters where words allow it; nothing is lost.

    All of them are indented as the text is.
    """
    indent = text[: len(text) - len(text.lstrip())]
    return wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def without_commands(line: str) -> str:
    """A line that GitHub Actions takes for a command shows as it is and does nothing.

    It obeys `::name::` at the start of a line and `##[name]` anywhere in it.
    """
    line = line.replace("##[", "# #[")
    if line.lstrip().startswith("::"):
        return line.replace("::", ": :", 1)
    return line


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours, or none of them."""

    on: bool

    def red(self, text: str) -> str:
        return self._paint("31", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        return self._paint("36", text)

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell; the cells hold no colours."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def patch(content: bytes, ink: Ink) -> Iterator[str]:
    """The lines of a unified diff as a person reads them; not fit for applying."""
    for line in content.decode("utf-8", "backslashreplace").split("\n"):
        yield _paint_by_mark(visible(line), ink)


def _paint_by_mark(line: str, ink: Ink) -> str:
    if line.startswith(("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode")):
        return ink.bold(line)
    match line[:1]:
        case "+":
            return ink.green(line)
        case "-":
            return ink.red(line)
        case "@":
            return ink.cyan(line)
    return line


def one_line(text: str, most: int = 200) -> str:
    """Text that cannot break out of its line, move the cursor or turn the writing round."""
    seen = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(seen.split())
    return line if len(line) <= most else line[: most - 1] + "…"
