"""The tools that read and change files; every path resolves inside the sandbox."""

from codecs import BOM_UTF32_LE

from orchestrator.edit import EditProblem, replace
from orchestrator.screen import count
from orchestrator.tools.tool import Context, ToolError

INLINE = 65_536
"""Bytes of the largest file that is shown whole."""
PAGE = 2_000
"""Lines shown at once."""
LARGEST = 16 << 20
"""Bytes of a file that is read at all."""
_LINE = 2_000
"""Characters of one line in a page; a longer one is cut, and says so."""


def read_file(
    context: Context, path: str, offset: int | None = None, limit: int | None = None
) -> str:
    """Read a text file; lines are shown with their numbers, a tab between.

    A file larger than 64 KiB is read in pieces, with split_file and read_piece, or in pages, by
    offset and limit.

    Args:
        path: The file, relative to /workspace or absolute.
        offset: The first line to show, from 1.
        limit: How many lines to show, at most 2000.
    """
    if offset is not None and offset < 1:
        raise ToolError(f"offset: expected 1 or more, got {offset}")
    if limit is not None and not 1 <= limit <= PAGE:
        raise ToolError(f"limit: expected 1 to {PAGE}, got {limit}")
    content = context.box.files.read(path, LARGEST)
    if is_utf_16(content):
        raise ToolError(
            f"{path} is text in UTF-16; read it with split_file and read_piece, and change it with"
            " patch_file"
        )
    require_text(content, path)
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if offset is None and limit is None and len(content) > INLINE:
        size = f"{len(content):,} bytes in {count(len(lines), 'line')}"
        raise ToolError(
            f"{path} has {size}, more than the {INLINE:,} that are shown whole; use split_file and"
            " read_piece, or read it in pages, for example offset=1 and limit=500"
        )
    return _page(path, lines, offset or 1, limit or PAGE) + _oddities(content)


def is_utf_16(content: bytes) -> bool:
    """Whether it is text by the mark of UTF-16, and ends with a whole character."""
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return marked and len(content) % 2 == 0 and not content.startswith(BOM_UTF32_LE)


def require_text(content: bytes, path: str) -> None:
    """Raises ToolError for what nobody can read as lines."""
    if b"\0" in content[:8192]:
        size = count(len(content), "byte")
        raise ToolError(f"{path} is a binary file of {size}; look at it with bash")


def _page(path: str, lines: list[bytes], first: int, limit: int) -> str:
    if not lines:
        return "(the file is empty)"
    if first > len(lines):
        raise ToolError(f"{path} has only {count(len(lines), 'line')}")
    shown = lines[first - 1 : first - 1 + limit]
    text = "\n".join(f"{number:6}\t{_line(line)}" for number, line in enumerate(shown, first))
    last = first + len(shown) - 1
    if first == 1 and last == len(lines):
        return text
    more = f"; go on with offset={last + 1}" if last < len(lines) else ""
    return f"{text}\n[lines {first}-{last} of {len(lines)}{more}]"


def _line(line: bytes) -> str:
    text = line.removesuffix(b"\r").decode("utf-8", "replace")
    if len(text) <= _LINE:
        return text
    return f"{text[:_LINE]}[cut: the line has {len(text):,} characters]"


def _oddities(content: bytes) -> str:
    """Name what numbered lines cannot show but an editor has to keep."""
    odd = []
    if b"\r\n" in content:
        odd.append("CRLF line breaks")
    if content.startswith(b"\xef\xbb\xbf"):
        odd.append("a byte order mark")
    if content and not content.endswith(b"\n"):
        odd.append("no line break at the end")
    return f"\n[the file has {', '.join(odd)}]" if odd else ""


def write_file(context: Context, path: str, content: str) -> str:
    """Create a file, or replace all of its content; missing folders are made.

    Args:
        path: The file, relative to /workspace or absolute.
        content: The whole content, exactly as it shall be.
    """
    written = content.encode()
    context.box.files.write(path, written)
    return f"{path} written, {count(len(written), 'byte')}"


def edit_file(
    context: Context, path: str, old_string: str, new_string: str, replace_all: bool = False
) -> str:
    """Replace an exact piece of a file; it has to occur once, unless replace_all is set.

    The file's line breaks are kept.

    Args:
        path: The file, relative to /workspace or absolute.
        old_string: The text to replace, copied exactly, without line numbers.
        new_string: What stands there afterwards.
        replace_all: Replace every occurrence.
    """
    edited = replace(context.box.files.read(path, LARGEST), old_string, new_string, replace_all)
    if isinstance(edited, EditProblem):
        raise ToolError(f"{path}: {edited.message}")
    context.box.files.write(path, edited)
    return f"{path} edited"


def delete_file(context: Context, path: str) -> str:
    """Delete a file.

    Args:
        path: The file, relative to /workspace or absolute.
    """
    context.box.files.delete(path)
    return f"{path} deleted"


def move_file(context: Context, source: str, destination: str) -> str:
    """Move or rename a file; an existing destination is never overwritten.

    Args:
        source: The file, relative to /workspace or absolute.
        destination: Its new path.
    """
    context.box.files.move(source, destination)
    return f"{source} moved to {destination}"
