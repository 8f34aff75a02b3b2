"""What kind of thing an entry is or becomes: what a line-by-line review cannot see.

Submodules, and links that leave the tree, are refused by the tree rules (`tree.py`).
"""

from collections.abc import Iterator

from orchestrator.guardrails.added import is_binary
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict
from orchestrator.patch import Entry

FILE, PROGRAM, SYMLINK = "100644", "100755", "120000"

_MACHINE_CODE = (
    b"\x7fELF",
    b"MZ",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\0asm",
    b"!<arch>\n",
)
"""ELF, Windows, Java and fat Mach-O, Mach-O, WebAssembly, static libraries."""


def check(difference: Difference) -> Iterator[Finding]:
    """Look at modes, then at the first bytes of every file that was written."""
    for entry in difference.entries:
        yield from _modes(entry)
        if entry.new_mode in (FILE, PROGRAM):
            yield from _content(entry, difference.blobs.read(entry.new_blob))


def _modes(entry: Entry) -> Iterator[Finding]:
    old, new = entry.old_mode, entry.new_mode
    if new == SYMLINK:
        # Within the tree links are legitimate, and rare.
        reason = "a symbolic link: whoever writes here writes somewhere else"
        yield Finding("shape.symlink", Verdict.REVIEW, entry.name, reason)
    elif old == SYMLINK and new != "000000":
        reason = "a symbolic link became a file"
        yield Finding("shape.type", Verdict.REVIEW, entry.name, reason)
    elif new == PROGRAM and old != PROGRAM:
        reason = "it can be run now"
        yield Finding("shape.executable", Verdict.REVIEW, entry.name, reason)


def _content(entry: Entry, data: bytes) -> Iterator[Finding]:
    if not is_binary(data):
        return
    if data.startswith(_MACHINE_CODE):
        # What it does cannot be read from it; honest builds keep their products out of git.
        yield Finding(
            "shape.program", Verdict.BLOCK, entry.name, "compiled code cannot be reviewed"
        )
    else:
        yield Finding("shape.binary", Verdict.REVIEW, entry.name, "no diff shows what is in it")
