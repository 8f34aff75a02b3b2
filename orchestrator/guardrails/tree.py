"""Rules for the shape of a tree, decided on modes, sizes and names before any content is read.

Git's own checks of objects accept symbolic links that leave the tree, submodules, names that
collide or deceive, and bombs; a repository with one of these harms whoever checks it out.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from orchestrator.guardrails.guardrail import Blobs, Difference
from orchestrator.outcome import Finding, Verdict
from orchestrator.patch import Entry, shown

MAX_PATHS = 20_000
"""Changed paths; more are generated files that belong into `.gitignore`."""
MAX_BLOB = 16 << 20
"""Bytes of one file; more is never held in memory."""
MAX_BYTES = 256 << 20
"""Bytes of all changed files together."""
MAX_TARGET = 4096
"""Bytes of a symbolic link's target: the limit of Linux."""
MAX_PATH = 4096
MAX_COMPONENT = 255
MAX_DEPTH = 64

_GITLINK = "160000"
_SYMLINK = "120000"
_MODES = ("100644", "100755", _SYMLINK)
_NOTHING = "000000"

_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?")
"""Device names of Windows, with any extension."""
_SHORT_GIT = re.compile(r"git~[0-9]+")
"""How NTFS abbreviates `.git`."""
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Hangul letters that show nothing."""


def tree(difference: Difference) -> Iterator[Finding]:
    """Every entry that no careful person would check out."""
    yield from _count(difference.entries)
    yield from _sizes(difference)
    for entry in difference.entries:
        yield from _mode(entry)
        if entry.status == "A":
            yield from _path(entry)
        if entry.new_mode == _SYMLINK:
            yield from _link(entry, difference.blobs)
    yield from _collisions(difference)
    yield from _nested(difference)


def _block(rule: str, path: bytes, reason: str) -> Finding:
    return Finding(f"tree.{rule}", Verdict.BLOCK, shown(path), reason)


def _count(entries: tuple[Entry, ...]) -> Iterator[Finding]:
    if len(entries) > MAX_PATHS:
        yield _block("count", b"", f"{len(entries):,} paths changed; the limit is {MAX_PATHS:,}")


def _sizes(difference: Difference) -> Iterator[Finding]:
    total = 0
    for entry in difference.entries:
        if entry.new_mode not in _MODES:
            continue
        size = difference.blobs.size(entry.new_blob)
        total += size
        if size > MAX_BLOB:
            yield _block("size", entry.path, f"{size:,} bytes; the limit is {MAX_BLOB:,}")
    if total > MAX_BYTES:
        yield _block("size", b"", f"{total:,} bytes in all; the limit is {MAX_BYTES:,}")


def _mode(entry: Entry) -> Iterator[Finding]:
    if _GITLINK in (entry.old_mode, entry.new_mode):
        yield _block("gitlink", entry.path, "a submodule was added, moved or removed")
    elif entry.new_mode not in (*_MODES, _NOTHING):
        yield _block("mode", entry.path, f"mode {entry.new_mode} is no file, program or link")


def _link(entry: Entry, blobs: Blobs) -> Iterator[Finding]:
    if blobs.size(entry.new_blob) > MAX_TARGET:
        yield _block("symlink-escape", entry.path, "the link's target is longer than any path")
        return
    reason = _escape(entry.path, blobs.read(entry.new_blob))
    if reason:
        yield _block("symlink-escape", entry.path, reason)


def _escape(path: bytes, target: bytes) -> str:
    """Why a link must not point there; empty when it may.

    Going up is counted only at the start, from the link's own folder: after a name, `..` would
    depend on whether that name is itself a link.
    """
    if target.startswith(b"/") or b"\\" in target or re.match(rb"[A-Za-z]:", target):
        return "the link's target is not relative"
    if not target or b"\0" in target:
        return "the link's target is no path"
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    up = next((at for at, part in enumerate(parts) if part != b".."), len(parts))
    if up > path.count(b"/"):
        return "the link's target lies outside the repository"
    if b".." in parts[up:]:
        return "the link's target goes up again after going down"
    if any(_is_git(part.decode("utf-8", "replace")) for part in parts):
        return "the link's target is git's own folder"
    return ""


def _path(entry: Entry) -> Iterator[Finding]:
    try:
        text = entry.path.decode("utf-8")
    except UnicodeDecodeError:
        yield _block("bad-name", entry.path, "the name is not UTF-8")
        return
    parts = text.split("/")
    if any(_is_git(part) for part in parts):
        yield _block("git-name", entry.path, "the name is one that git keeps for itself")
    reason = _bad_path(entry.path, parts) or next(filter(None, map(_bad_name, parts)), "")
    if reason:
        yield _block("bad-name", entry.path, reason)


def _bad_path(path: bytes, parts: list[str]) -> str:
    if len(path) > MAX_PATH:
        return f"the path is longer than {MAX_PATH} bytes"
    if len(parts) > MAX_DEPTH:
        return f"the path is more than {MAX_DEPTH} folders deep"
    return ""


def _bad_name(name: str) -> str:
    """Why a file must not be called so; empty when it may."""
    if len(name.encode()) > MAX_COMPONENT:
        return f"the name is longer than {MAX_COMPONENT} bytes"
    if not unicodedata.is_normalized("NFC", name):
        return "the name is not in Unicode's composed form (NFC)"
    if any(_unseen(char) for char in name):
        return "the name has characters that cannot be seen"
    if name.startswith("-"):
        return "the name starts with a dash and would be read as an option"
    if "\\" in name or ":" in name:
        return "the name means another path on Windows"
    if name in ("", ".", "..") or name != name.rstrip(". ") or _RESERVED.fullmatch(name.lower()):
        return "the name cannot exist on Windows"
    return ""


def _unseen(char: str) -> bool:
    """Controls, direction marks, zero widths, odd spaces, variation selectors, fillers."""
    if char == " ":
        return False
    odd = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0000" <= char <= "\U000e0fff"
    return odd or selector or char in _FILLERS


def _is_git(name: str) -> bool:
    """What any file system takes for `.git`: HFS+ drops ignorables, NTFS dots and streams."""
    seen = "".join(char for char in name if not _unseen(char)).casefold()
    plain = re.split(r"[:\\]", seen)[0].rstrip(". ")
    return plain == ".git" or bool(_SHORT_GIT.fullmatch(plain))


def _collisions(difference: Difference) -> Iterator[Finding]:
    """New names that differ from a neighbour only by case or composition: one hides the other."""
    added = sorted(entry.path for entry in difference.entries if entry.status == "A")
    names = {
        folder: Counter(map(_folded, neighbours))
        for folder, neighbours in difference.folders.items()
    }
    for path in added:
        parts = path.split(b"/")
        for depth, part in enumerate(parts):
            if names.get(b"/".join(parts[:depth]), Counter())[_folded(part)] > 1:
                yield _block("case-collision", path, "another name differs only by upper case")
                break


def _folded(name: bytes) -> str:
    text = unicodedata.normalize("NFC", name.decode("utf-8", "surrogateescape"))
    return unicodedata.normalize("NFC", text.casefold())


def _nested(difference: Difference) -> Iterator[Finding]:
    """A folder that git would take for a bare repository, settings and hooks included."""
    for folder, neighbours in difference.folders.items():
        names = {name.lower() for name in neighbours}
        if b"head" in names and ({b"objects", b"refs"} <= names or b"commondir" in names):
            yield _block("nested-repository", folder, "git would take this folder for a repository")
