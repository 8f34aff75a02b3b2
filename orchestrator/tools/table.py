"""The tools an agent has."""

from orchestrator.tools import command, files, outline, patching, pieces, search, terminal
from orchestrator.tools.tool import Tool, tool

_PAGE_LIMIT = 100_000
"""Characters of one read: 64 KiB of text, its line numbers and notes."""

TOOLS: tuple[Tool, ...] = (
    tool(files.read_file, "read", limit=_PAGE_LIMIT),
    tool(files.write_file, "write"),
    tool(files.edit_file, "write"),
    tool(patching.apply_patch, "write"),
    tool(pieces.split_file, "read"),
    tool(pieces.read_piece, "read", limit=pieces.SHOWN + 1_000),
    tool(pieces.patch_file, "write"),
    tool(outline.outline, "read"),
    tool(files.delete_file, "write"),
    tool(files.move_file, "write"),
    tool(search.list_dir, "read"),
    tool(search.glob, "read"),
    tool(search.grep, "read"),
    tool(search.find_files, "read"),
    tool(command.bash, "execute"),
    tool(terminal.terminal, "execute"),
    tool(command.finish, "read", final=True),
)
