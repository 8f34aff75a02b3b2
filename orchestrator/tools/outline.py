"""The tool that shows what is declared where, in a file or below a folder."""

from collections import deque
from collections.abc import Iterator

from orchestrator import outlines
from orchestrator.screen import Ink, visible
from orchestrator.sources import FOREIGN
from orchestrator.tools.files import LARGEST, require_text
from orchestrator.tools.tool import Context, ToolError
from sandbox.files import FileError
from splitters import detect, form

_FILES = 200
_FOLDERS = 200
"""So many are looked into; every one is a question to the sandbox."""
_BYTES = 8 << 20
_FILE = 1 << 20
_DEEPEST = 64
_PLAIN = Ink(False)


def outline(context: Context, path: str = ".", depth: int | None = None) -> str:
    """Show what is declared in a file, or in the files below a folder: lines, kinds, names, nested.

    Use it to find your way before you read. Hidden folders and those of foreign packages are left
    out.

    Args:
        path: The file or folder, relative to /workspace or absolute.
        depth: How many levels of nesting to show; without it all of a file, the first of a folder.
    """
    if depth is not None and depth < 1:
        raise ToolError(f"depth: expected 1 or more, got {depth}")
    if _is_folder(context, path):
        return "\n".join(_folder(context, path, depth or 1))
    content = context.box.files.read(path, LARGEST)
    if form.encoding(content) == "binary":
        require_text(content, path)
    found = context.desk.parser.outline(content, path)
    shown = outlines.lines(found.declarations, depth or _DEEPEST, _PLAIN)
    trouble = [f"[{found.trouble}]"] if found.trouble else []
    return "\n".join((*shown, *trouble)) or f"(nothing is declared in this file: {found.language})"


def _is_folder(context: Context, path: str) -> bool:
    try:
        context.box.files.list(path)
    except FileError:
        return False
    return True


def _folder(context: Context, path: str, depth: int) -> Iterator[str]:
    room, seen, empty = _BYTES, 0, True
    for file in _files(context, path):
        if seen == _FILES or room <= 0:
            yield f"[there are more files; only {seen} were looked at: name a folder below]"
            return
        content = _content(context, file)
        seen, room = seen + 1, room - len(content)
        found = context.desk.parser.outline(content, file)
        if found.declarations:
            empty = False
            yield visible(file)
            yield from (f"  {line}" for line in outlines.lines(found.declarations, depth, _PLAIN))
            if found.trouble:
                yield f"  [{found.trouble}]"
    if empty:
        yield "(nothing is declared in the files of this folder)"


def _content(context: Context, path: str) -> bytes:
    """A file that went away, is large or no text has nothing to show."""
    try:
        content = context.box.files.read(path, _FILE)
    except FileError:
        return b""
    return b"" if b"\0" in content[:8192] else content


def _files(context: Context, top: str) -> Iterator[str]:
    """The files of known languages below a folder, those nearest to it first."""
    waiting, looked = deque([top.rstrip("/") or "/"]), 0
    while waiting and looked < _FOLDERS:
        folder = waiting.popleft()
        looked += 1
        try:
            names = context.box.files.list(folder).names
        except FileError:
            continue
        for name in names:
            path = name if folder == "." else f"{folder.rstrip('/')}/{name}"
            if name.endswith("/"):
                if not FOREIGN.search(name):
                    waiting.append(path.rstrip("/"))
            elif detect(path):
                yield path
