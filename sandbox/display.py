"""What a person would see on a terminal: hostile bytes in, lines of printable text out.

pyte draws; it was written for well-behaved programs, so it gets only what it understands, in pieces
of bounded size. Titles, links, the clipboard and every other string for the terminal are dropped.
"""

import codecs
import copy
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyte

ABOVE = 200
"""Lines that are kept after they left the screen at its top."""
UNSHOWN = 1 << 16
"""Bytes that wait to be drawn, at most; pyte draws about 1 MB a second."""
MARKS = 8
"""Characters in one cell, accents included: a flood of accents would all go into the same cell."""
SAVED = 8
"""Cursor positions that a program can save."""
_ANSWER = 256
"""Characters of answers that wait to be taken."""
_PRIVATE_CURSOR_KEYS = 1 << 5
_OTHER_SCREEN = {47, 1047, 1049}
_COLUMNS_132 = 3

_TOKEN = re.compile(
    r"""
      (?P<text>     [^\x00-\x1f\x7f-\x9f]+ )
    | (?P<control>  [\x07-\x0d] )
    | (?P<sequence> \x1b (?: \[ [0-9;]{0,64} [@-~] | \[\? [0-9;]{0,64} [hl] | [78DEHMc] | \#8 ) )
    | (?P<other>    \x1b (?: \[ [ -?]{0,64} [@-~]               # what pyte would stumble over
                           | [\]PX^_] [^\x07\x18\x1a\x1b]{0,4096}  # a string, to its end
                             (?: [\x07\x18\x1a] | \x1b\\ | (?=\x1b[^\\]) )
                           | [ -/]{1,2} [0-~] | [0-OQ-WYZ\\`-~] ) )
    | (?P<partial>  \x1b (?: \[ [ -?]{0,64} | [ -/]{1,2} | [\]PX^_] [^\x07\x18\x1a\x1b]{0,4096}
                             \x1b? )? \Z )
    | (?P<nothing>  . )                                            # C0, C1, ends of what was cut
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal shows at one moment; every character is printable."""

    lines: tuple[str, ...]
    """All rows, without the blanks at their ends."""
    row: int
    """Where the cursor is, counted from 1."""
    column: int
    """In cells: a wide character takes two."""
    above: tuple[str, ...] = ()
    """Lines that left at the top since the last look, at most `ABOVE`."""
    skipped: int = 0
    """Bytes since the last look that came too fast to be shown."""

    @property
    def text(self) -> str:
        """The lines above and those of the screen down to the last one that is not empty."""
        return "\n".join((*self.above, *self.lines)).rstrip("\n")


class Display:
    """A terminal's screen; not for several threads at once."""

    def __init__(self, rows: int, columns: int) -> None:
        self._screen = _Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._skipped = 0

    def feed(self, data: bytes) -> str:
        """Show what a program printed; the plain text among it."""
        said = []
        for kind, part in self._parts(self._decoder.decode(data)):
            if kind == "text":
                part = "".join(char for char in part if char.isprintable())
                self._screen.write(part)
                said.append(part)
            else:
                self._obey(part)
                said.append("\n" if part == "\n" else "")
        return "".join(said)

    def skip(self, size: int) -> None:
        """Some bytes are left out here; what comes next begins anew."""
        self._skipped += size
        self._held = ""
        self._decoder.reset()

    def resize(self, rows: int, columns: int) -> None:
        self._screen.resize(rows, columns)

    def look(self) -> Screen:
        """The screen, with what happened since the last look."""
        shown = self._screen
        lines = tuple(shown.line(number) for number in range(shown.lines))
        above, skipped = tuple(shown.above), self._skipped
        shown.above.clear()
        self._skipped = 0
        column = min(shown.cursor.x, shown.columns - 1)
        return Screen(lines, shown.cursor.y + 1, column + 1, above, skipped)

    def shown(self) -> str:
        """The text of the screen."""
        return "\n".join(self._screen.line(number) for number in range(self._screen.lines))

    def answer(self) -> bytes:
        """What a terminal replies to a program that asks where the cursor is, and the like."""
        said, self._screen.answers = self._screen.answers, ""
        return said.encode()

    @property
    def application_keys(self) -> bool:
        """Whether the program asked for the other codes of the cursor keys (DECCKM)."""
        return _PRIVATE_CURSOR_KEYS in self._screen.mode

    def _parts(self, text: str) -> Iterator[tuple[str, str]]:
        text, self._held = self._held + text, ""
        for match in _TOKEN.finditer(text):
            if match.lastgroup == "partial":
                self._held = match[0]
            elif match.lastgroup in ("text", "control", "sequence"):
                yield match.lastgroup, match[0]

    def _obey(self, sequence: str) -> None:
        try:
            self._stream.feed(sequence)
        except Exception:
            # With parameters that make no sense pyte fails in many ways (too many: TypeError); it
            # starts afresh after each.
            return
        del self._screen.savepoints[:-SAVED]


class Unshown:
    """What was read and not drawn yet: the last of it, and how much more there was."""

    def __init__(self) -> None:
        self.pieces: deque[bytes] = deque()
        self._size = 0
        self._skipped = 0

    def add(self, piece: bytes) -> None:
        self.pieces.append(piece)
        self._size += len(piece)
        while self._size > UNSHOWN:
            dropped = len(self.pieces.popleft())
            self._size -= dropped
            self._skipped += dropped

    def take(self) -> tuple[int, bytes]:
        """How many bytes are missing before it, and the rest, from a whole line on then."""
        skipped, data = self._skipped, b"".join(self.pieces)
        self.pieces.clear()
        self._size = self._skipped = 0
        if skipped:
            start = data.find(b"\n") + 1
            skipped, data = skipped + start, data[start:]
        return skipped, data


class _Screen(pyte.Screen):
    """pyte's, with lines that scrolled off, a second screen, and bounds on what it keeps."""

    def __init__(self, columns: int, lines: int) -> None:
        self.above: deque[str] = deque(maxlen=ABOVE)
        self.answers = ""
        self._kept: tuple[dict[int, Any], Any] | None = None
        super().__init__(columns, lines)

    def write(self, text: str) -> None:
        if text.isascii():
            self.draw(text)
            return
        for char in text:  # one by one: pyte drops what follows a character without width
            if not (unicodedata.combining(char) and self._full()):
                self.draw(char)

    def line(self, number: int) -> str:
        """A row as text. pyte's own way fails where half of a wide character was overwritten."""
        row = self.buffer[number]
        cells = [row[x].data for x in range(self.columns)]
        for x, cell in enumerate(cells):
            if not cell and not (x and _wide(cells[x - 1])):
                cells[x] = " "
        return "".join(cells).rstrip()

    def index(self) -> None:
        bottom = self.margins.bottom if self.margins else self.lines - 1
        at_top = not self.margins or self.margins.top == 0
        if self.cursor.y == bottom and at_top and self._kept is None:
            self.above.append(self.line(0))
        super().index()

    def reset(self) -> None:
        self._kept = None
        super().reset()

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        if kwargs.get("private") and _OTHER_SCREEN & {*modes} and self._kept is None:
            self._kept = dict(self.buffer), copy.copy(self.cursor)
            self.buffer.clear()
        super().set_mode(*_usual(modes), **kwargs)

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        if kwargs.get("private") and _OTHER_SCREEN & {*modes} and self._kept is not None:
            rows, self.cursor = self._kept
            self._kept = None
            self.buffer.clear()
            self.buffer.update({y: row for y, row in rows.items() if y < self.lines})
            self.ensure_hbounds()
            self.ensure_vbounds()
        super().reset_mode(*_usual(modes), **kwargs)

    def write_process_input(self, data: str) -> None:
        if len(self.answers) < _ANSWER:
            self.answers += data

    def _full(self) -> bool:
        """Whether the cell before the cursor has all the accents it can hold."""
        x, y = self.cursor.x, self.cursor.y
        cell = self.buffer[y][x - 1] if x else self.buffer[max(0, y - 1)][self.columns - 1]
        return len(cell.data) >= MARKS


def _usual(modes: tuple[int, ...]) -> tuple[int, ...]:
    """Without the switch to 132 columns, of which the program's side would know nothing."""
    return tuple(mode for mode in modes if mode != _COLUMNS_132)


def _wide(cell: str) -> bool:
    return cell != "" and unicodedata.east_asian_width(cell[0]) in "WF"
