"""The tool that changes several files by one patch, all of them or none."""

import os
from collections.abc import Mapping

from orchestrator.patching.forms import read
from orchestrator.patching.hunks import PatchProblem, shown
from orchestrator.patching.plan import Placed, paths, plan
from orchestrator.patching.trial import Blob, tried
from orchestrator.tools.tool import Context, ToolError
from sandbox.files import Kept, Swap

_TOGETHER = 32 << 20
"""Bytes of all files of one patch."""
_READABLE = 0o444


def apply_patch(context: Context, patch: str) -> str:
    """Change, create, delete or rename several files by one patch: all of it, or nothing.

    Either a unified diff, as `git diff` writes it; line numbers only matter where the lines of a
    hunk stand more than once in the file. Or this form, without line numbers:

    *** Begin Patch
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ def greet():
         name = ask()
    -    print("Hi")
    +    print("Hi", name)
    *** Add File: notes.txt
    +every line begins with +
    *** Delete File: old.txt
    *** End Patch

    "Move to" only to rename. After @@ may stand a line above the hunk, such as its function. Copy
    context (a space before it) and removed lines exactly; show about three lines around a change.

    Args:
        patch: The patch in either form, nothing else.
    """
    try:
        changes = read(patch.encode())
        found = _gathered(context, paths(changes))
        contents = {path: kept.content if kept else None for path, kept in found.items()}
        placed = plan(changes, contents)
        before = {path: _blob(kept) for path, kept in found.items() if kept}
        after = tried(before, placed)
    except PatchProblem as problem:
        raise ToolError(f"{problem}\nNothing was changed.") from None
    context.box.files.swap(_swaps(placed, found, after))
    return "\n".join(_told(each) for each in placed)


def _gathered(context: Context, wanted: tuple[bytes, ...]) -> dict[bytes, Kept | None]:
    found = context.box.files.gather([os.fsdecode(path) for path in wanted], _TOGETHER)
    return dict(zip(wanted, found, strict=True))


def _blob(kept: Kept) -> Blob:
    return Blob(kept.content, bool(kept.mode & 0o100))


def _swaps(
    placed: tuple[Placed, ...],
    found: Mapping[bytes, Kept | None],
    after: Mapping[bytes, Blob],
) -> list[Swap]:
    swaps = []
    for change in (each.change for each in placed):
        source = found[change.old] if change.old is not None else None
        for path in change.paths:
            was, now = found[path], after.get(path)
            swaps.append(
                Swap(
                    os.fsdecode(path),
                    was.content if was else None,
                    now.content if now else None,
                    _mode(source, now) if now else None,
                )
            )
    return swaps


def _mode(source: Kept | None, now: Blob) -> int | None:
    """The bits of before, with those for execution as git has them: wherever it can be read."""
    if source is None:
        return 0o755 if now.executable else None
    if now.executable == bool(source.mode & 0o100):
        return source.mode
    if now.executable:
        return source.mode | (source.mode & _READABLE) >> 2
    return source.mode & ~0o111


def _told(placed: Placed) -> str:
    change = placed.change
    counts = f"+{placed.added} -{placed.removed}"
    if change.old is None:
        return f"{change.name} added, {counts}"
    if change.new is None:
        return f"{change.name} deleted, {counts}"
    words = [f"{change.name} renamed to {shown(change.new)}," if len(change.paths) > 1 else ""]
    words += [change.name, "changed,"] if not words[0] else []
    mode = {True: " executable", False: " not executable", None: ""}[change.executable]
    return " ".join(filter(None, words)) + f" {counts}" + (f", now{mode}" if mode else "")
