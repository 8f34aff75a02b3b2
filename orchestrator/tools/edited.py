"""Edits of one piece of a file: bytes in, bytes out; what is not edited stays as it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from orchestrator.edit import EditProblem, replace
from orchestrator.tools.files import is_utf_16

_BREAK = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class PieceEdit:
    """A change of one piece: all of it, or an exact text in it.

    Args:
        piece: The number of the piece.
        new_text: What stands there afterwards. Without old_text it replaces the whole piece, which
            you have to have read with read_piece.
        old_text: The text to replace, copied exactly, without line numbers; it has to occur once
            in the piece.
    """

    piece: int
    new_text: str
    old_text: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """How the text of a file is written down."""

    encoding: str
    newline: str
    """What ends most of its lines."""

    @classmethod
    def of(cls, data: bytes) -> "Script":
        """Told by the mark at the start and by all bytes; what is not UTF-8 is taken as Latin-1."""
        encoding = _MARKS[data[:2]] if is_utf_16(data) else ""
        if not encoding:
            try:
                data.decode("utf-8")
                encoding = "utf-8"
            except UnicodeDecodeError:
                encoding = "latin-1"
        text = data.decode(encoding, "surrogatepass") if encoding != "utf-8" else ""
        return cls(encoding, _newline(text.encode("utf-8", "surrogatepass") or data))

    def text(self, content: bytes) -> str:
        """A piece as a model reads and writes it: with `\\n` where the file has lone `\\r`.

        A piece may begin inside a character of UTF-8; those bytes are surrogates, as in a path.
        """
        text = content.decode(self.encoding, self.errors).removeprefix("\ufeff")
        return text.replace("\r", "\n") if self.newline == "\r" else text

    def content(self, text: str) -> bytes:
        """The bytes of such a text. Raises UnicodeEncodeError."""
        return text.encode(self.encoding, self.errors)

    def breaks(self, content: bytes) -> int:
        """How many lines end in a content, also those that a lone `\\r` ends."""
        text = self.text(content)
        return text.count("\n") + text.count("\r") - text.count("\r\n")

    def line_break(self, content: bytes) -> bytes:
        """The line break that a content ends with, if it does."""
        breaks = (self.content(each) for each in ("\r\n", "\n", "\r"))
        return next(filter(content.endswith, breaks), b"")

    @property
    def errors(self) -> str:
        """What Python does with bytes that are no text."""
        return "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"


def _newline(data: bytes) -> str:
    paired = data.count(b"\r\n")
    lone = data.count(b"\r") - paired
    feeds = data.count(b"\n") - paired
    return max(((feeds, "\n"), (paired, "\r\n"), (lone, "\r")), key=lambda each: each[0])[1]


def edited(
    content: bytes, edit: PieceEdit, script: Script, *, last: bool, first_line: int = 1
) -> bytes | EditProblem:
    """The piece after an edit; `first_line` is its own, `last`: the file ends with it.

    A line break at its end stays, whether a new text has one or not: lines of two pieces are never
    joined, and none is broken in two. So does the byte order mark.
    """
    if edit.old_text is None:
        return _whole(content, edit.new_text, script)
    changed = _within(content, edit.old_text, edit.new_text, script, first_line)
    if isinstance(changed, EditProblem) or last:
        return changed
    return _ended(changed, content, script)


def _whole(content: bytes, new: str, script: Script) -> bytes | EditProblem:
    mark = _mark(content, script)
    before = _LINE.findall(content[len(mark) :].decode(script.encoding, script.errors))
    after = _LINE.findall(_BREAK.sub(script.newline, new.removeprefix("\ufeff")))
    try:
        written = mark + script.content("".join(_kept(before, after)))
    except UnicodeEncodeError as problem:
        return _unwritable(problem, script)
    return _ended(written, content, script) if new else mark


def _kept(before: list[str], after: list[str]) -> Iterator[str]:
    """The new lines; those that were there before are as they were, with their own endings."""
    old, new = [*map(_bare, before)], [*map(_bare, after)]
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    yield from before[:head]
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for kind, start, stop, first, end in SequenceMatcher(None, *middle).get_opcodes():
        found, start, stop = (before, start, stop) if kind == "equal" else (after, first, end)
        yield from found[head + start : head + stop]
    yield from before[len(old) - tail :]


def _alike(first: list[str], second: list[str]) -> int:
    """How many lines are the same from the start."""
    pairs = zip(first, second, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second))
    )


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _within(
    content: bytes, old: str, new: str, script: Script, first_line: int
) -> bytes | EditProblem:
    if script.encoding == "utf-8" and script.newline != "\r":
        return replace(content, old, new, part_from=first_line)
    mark = _mark(content, script)
    text = script.text(content).encode("utf-8", "surrogatepass")
    changed = replace(text, old, new, part_from=first_line)
    if isinstance(changed, EditProblem):
        return changed
    now = changed.decode("utf-8", "surrogatepass")
    try:
        return mark + script.content(now.replace("\n", "\r") if script.newline == "\r" else now)
    except UnicodeEncodeError as problem:
        return _unwritable(problem, script)


def _mark(content: bytes, script: Script) -> bytes:
    mark = script.content("\ufeff") if script.encoding != "latin-1" else b""
    return mark if mark and content.startswith(mark) else b""


def _unwritable(problem: UnicodeEncodeError, script: Script) -> EditProblem:
    char = problem.object[problem.start]
    return EditProblem(f"the file is in {script.encoding}, which has no {char!r}; write it so")


def _ended(written: bytes, before: bytes, script: Script) -> bytes:
    """What was written, with a line break at its end exactly if there was one before."""
    had, has = script.line_break(before), script.line_break(written)
    if not written or bool(had) == bool(has):
        return written
    return written + had if had else written[: -len(has)]
