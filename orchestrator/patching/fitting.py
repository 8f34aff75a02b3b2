"""A hunk's lines as they go into the file at their place: with the file's own bytes."""

from collections.abc import Sequence

from orchestrator.patching.hunks import Hunk, Line, PatchProblem

BOM = b"\xef\xbb\xbf"
UNKNOWN = "\ufffd".encode()


def fitted(hunk: Hunk, file: Sequence[bytes], start: int) -> list[Line]:
    """The hunk's lines for this place. Raises PatchProblem for text that stands for other bytes."""
    size = len(hunk.old)
    if tuple(file[start : start + size]) == hunk.old and (size or not file):
        return list(hunk.lines)
    _require_known(hunk, file)
    line_break = _line_break(file, start)
    lines: list[Line] = []
    at = start
    for line in hunk.lines:
        if line.mark == "+":
            lines.append(Line("+", _ended(line.text, line_break)))
        else:
            lines.append(Line(line.mark, file[at]))
            at += 1
    if start == 0 and file[0].startswith(BOM) and hunk.new:
        lines = _with_mark(lines)
    says_end = any(not line.text.endswith(b"\n") for line in hunk.lines)
    if at == len(file) and not file[-1].endswith(b"\n") and not says_end:
        lines = _without_end(lines, line_break)
    return lines


def _require_known(hunk: Hunk, file: Sequence[bytes]) -> None:
    added = any(line.mark == "+" and UNKNOWN in line.text for line in hunk.lines)
    if added and not any(UNKNOWN in line for line in file):
        raise PatchProblem(
            "an added line holds U+FFFD, which stands for bytes of the file that are not UTF-8; "
            "change such a line with a command."
        )


def _line_break(file: Sequence[bytes], start: int) -> bytes:
    """That of the line at the place; at a last line without one, that of the line before."""
    near = file[start : start + 1] or file[start - 1 : start]
    if near and not near[0].endswith(b"\n"):
        near = file[max(0, len(file) - 2) : len(file) - 1]
    return b"\r\n" if near and near[0].endswith(b"\r\n") else b"\n"


def _ended(text: bytes, line_break: bytes) -> bytes:
    if not text.endswith(b"\n") or text.endswith(b"\r\n"):
        return text
    return text[:-1] + line_break


def _changed(line: Line, text: bytes) -> list[Line]:
    """The line with another text; one that was kept is replaced then."""
    if line.text == text:
        return [line]
    return [Line("+", text)] if line.mark == "+" else [Line("-", line.text), Line("+", text)]


def _with_mark(lines: list[Line]) -> list[Line]:
    """With the byte order mark at the first new line, wherever it was before."""
    new = [at for at, line in enumerate(lines) if line.mark != "-"]
    old = [at for at, line in enumerate(lines) if line.mark != "+"]
    fixed: list[Line] = []
    for at, line in enumerate(lines):
        bare = line.text.removeprefix(BOM)
        if at == new[0]:
            fixed += _changed(line, BOM + bare)
        elif at == old[0] and line.mark == " ":
            fixed += _changed(line, bare)
        else:
            fixed.append(line)
    return fixed


def _without_end(lines: list[Line], line_break: bytes) -> list[Line]:
    """With the last new line ending the file as the last old one did: without a line break."""
    new = [at for at, line in enumerate(lines) if line.mark != "-"]
    fixed: list[Line] = []
    for at, line in enumerate(lines):
        bare = line.text.removesuffix(b"\n").removesuffix(b"\r")
        if at not in new:
            fixed.append(line)
        elif at != new[-1]:
            fixed += _changed(line, line.text if line.text.endswith(b"\n") else bare + line_break)
        elif bare:
            fixed += _changed(line, bare)
    return fixed
