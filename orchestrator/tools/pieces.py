"""The tools for files that are too large to be read whole: cut, read, change, in pieces."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from orchestrator.edit import EditProblem
from orchestrator.screen import count, visible
from orchestrator.screen import cut as cut_off
from orchestrator.tools.desk import Cut, Desk
from orchestrator.tools.edited import PieceEdit, Script, edited
from orchestrator.tools.files import INLINE, LARGEST, is_utf_16, require_text
from orchestrator.tools.recut import Recut, recut
from orchestrator.tools.tool import Context, ToolError
from splitters import TARGET, Piece

SHOWN = 100_000
"""Characters of a piece with its line numbers that are shown whole."""
_SMALLEST = 512
_NAMES = 8
"""So many declarations of a piece are named, its last among them."""
_NAME = 60


def split_file(
    context: Context, path: str, target_bytes: int | None = None, natural: bool = False
) -> str:
    """Cut a large text file into numbered pieces, between its declarations; nothing is written.

    Returns the list of the pieces, with their lines and what is declared in them. Read one with
    read_piece, change some with patch_file.

    Args:
        path: The file, relative to /workspace or absolute.
        target_bytes: How large a piece may be, 512 to 65536; 32768 when not given.
        natural: Make a piece of every single declaration, section or paragraph.
    """
    target = TARGET if target_bytes is None else target_bytes
    if not _SMALLEST <= target <= INLINE:
        raise ToolError(f"target_bytes: expected {_SMALLEST} to {INLINE}, got {target}")
    content = _read(context, path)
    parted = context.desk.parser.split(content, path, target=target, natural=natural)
    pieces = parted.pieces.pieces
    language = parted.pieces.language
    context.desk.keep(path, Cut(_hash(content), language, target, pieces))
    trouble = f"\n[{parted.trouble}]" if parted.trouble else ""
    size = count(len(content), "byte")
    head = f"{path}: {size}, {language}, in {count(len(pieces), 'piece')}"
    return "\n".join((head + trouble, *(_row(piece) + _named(piece.names) for piece in pieces)))


def read_piece(context: Context, path: str, piece: int) -> str:
    """Read one piece of a file that split_file has cut; lines are shown with their numbers.

    Args:
        path: The file, relative to /workspace or absolute.
        piece: The number of the piece, as listed.
    """
    cut = _remembered(context.desk, path)
    content = _read(context, path)
    _require_same(cut, content, path)
    chosen = _chosen(cut, piece, path)
    raw, script = content[chosen.start : chosen.end], Script.of(content)
    lines = script.text(raw).removesuffix("\n").split("\n")
    shown = "\n".join(_numbered(lines, chosen.first_line))
    notes = ""
    if len(shown) <= SHOWN and context.whole(shown):
        cut.shown.add((piece, chosen.sha256))
    else:
        notes += "; too long to be shown whole: use split_file with a smaller target_bytes"
    if not _ends_line(content[: chosen.start], script):
        notes += "; it begins inside a line"
    if chosen.end < len(content) and not _ends_line(raw, script):
        notes += "; it ends inside a line"
    return f"{shown}\n[piece {piece} of {len(cut.pieces)}: {_about(chosen)}{notes}]"


def patch_file(context: Context, path: str, edits: list[PieceEdit]) -> str:
    """Change pieces of a file that split_file has cut: all of the edits, or none of them.

    Line endings, encoding and a missing line break at the end are kept. The pieces that you do not
    edit keep their cuts; their numbers change only where an edited piece became several or none,
    which the answer tells.

    Args:
        path: The file, relative to /workspace or absolute.
        edits: The changes; several of one piece are made in this order.
    """
    if not edits:
        raise ToolError("edits: at least one is needed")
    cut = _remembered(context.desk, path)
    content = _read(context, path)
    _require_same(cut, content, path)
    changed = _changed(cut, content, edits, path)
    if not changed:
        raise ToolError(f"{path}: nothing would change")
    result = recut(context.desk.parser, path, cut, content, changed)
    context.box.files.write(path, result.content)
    context.desk.keep(path, result.cut)
    return _report(path, result, len(result.cut.pieces) - len(cut.pieces), max(changed))


def _read(context: Context, path: str) -> bytes:
    content = context.box.files.read(path, LARGEST)
    if not is_utf_16(content):
        require_text(content, path)
    return content


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def _remembered(desk: Desk, path: str) -> Cut:
    cut = desk.cut(path)
    if cut is None:
        raise ToolError(f"{path} is not cut into pieces; use split_file first")
    return cut


def _require_same(cut: Cut, content: bytes, path: str) -> None:
    if _hash(content) != cut.sha256:
        raise ToolError(f"{path} has changed since it was cut into pieces; use split_file again")


def _chosen(cut: Cut, number: int, path: str) -> Piece:
    if not 1 <= number <= len(cut.pieces):
        raise ToolError(f"piece: {path} has pieces 1 to {len(cut.pieces)}, not {number}")
    return cut.pieces[number - 1]


def _changed(cut: Cut, content: bytes, edits: Sequence[PieceEdit], path: str) -> dict[int, bytes]:
    """The new content of each piece that differs after its edits. Raises ToolError for any."""
    script = Script.of(content)
    now: dict[int, bytes] = {}
    for number, edit in enumerate(edits, 1):
        piece = _chosen(cut, edit.piece, path)
        if edit.old_text is None and (piece.number, piece.sha256) not in cut.shown:
            raise ToolError(
                f"edit {number}: read_piece has not shown piece {piece.number} as it is now; read"
                " it before you replace all of it, or give old_text. Nothing was changed."
            )
        if "\0" in edit.new_text:
            raise ToolError(
                f"edit {number}: new_text has a NUL character, which makes a file binary. Nothing"
                " was changed."
            )
        before = now.get(piece.number, content[piece.start : piece.end])
        last = piece.number == len(cut.pieces)
        after = edited(before, edit, script, last=last, first_line=piece.first_line)
        if isinstance(after, EditProblem):
            raise ToolError(
                f"edit {number}, piece {piece.number}: {after.message}\nNothing was changed."
            )
        now[piece.number] = after
    was = {piece.number: content[piece.start : piece.end] for piece in cut.pieces}
    found = _apart(was, was | now, script)
    return {number: found[number] for number in now if found[number] != was[number]}


def _apart(was: Mapping[int, bytes], now: dict[int, bytes], script: Script) -> dict[int, bytes]:
    """The new contents; an emptied piece leaves the end of a line that began before it."""
    last = max((number for number, content in now.items() if content), default=0)
    inside = False
    for number, before in was.items():
        if inside and not now[number] and number < last:
            now[number] = script.line_break(before)
        if text := script.text(now[number][-4:]):
            inside = not text.endswith(("\n", "\r"))
    return now


def _numbered(lines: Sequence[str], first: int) -> Iterator[str]:
    """A lone `\\r` ends a line as well, as in the list of the pieces, and is shown as it is."""
    for line in lines:
        bare = line.removesuffix("\r")
        yield f"{first:6}\t{bare}"
        first += 1 + bare.count("\r")


def _report(path: str, result: Recut, more: int, last: int) -> str:
    """What the edited pieces and those beside them are now."""
    near = {number + beside for number in result.fresh for beside in (-1, 0, 1)}
    shown = [piece for piece in result.cut.pieces if piece.number in near]
    size = count(len(result.content), "byte")
    moved = ""
    if more:
        moved = f"; the pieces behind {last} have new numbers now: {more:+} for each"
    head = f"{path} changed: {size} in {count(len(result.cut.pieces), 'piece')}{moved}"
    return "\n".join((head, *(_row(piece) for piece in shown)))


def _named(names: Sequence[str]) -> str:
    if len(names) > _NAMES:
        left = len(names) - _NAMES
        names = [*names[: _NAMES - 1], f"({left} more)", names[-1]]
    return f": {', '.join(map(_cleaned, names))}" if len(names) > 1 else ""


def _row(piece: Piece) -> str:
    return f"{piece.number:4}  {_about(piece)}"


def _about(piece: Piece) -> str:
    size = count(piece.size, "byte")
    name = f" {_cleaned(piece.name)}" if piece.name else ""
    return f"lines {piece.first_line}-{piece.last_line}, {size}, {_cleaned(piece.kind)}{name}"


def _cleaned(name: str) -> str:
    return cut_off(visible(" ".join(name.split())), _NAME)


def _ends_line(content: bytes, script: Script) -> bool:
    return not content or script.text(content[-4:]).endswith("\n")
