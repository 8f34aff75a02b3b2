"""Files of the base commit that agents go by, read as data; nothing of a sandbox is looked at."""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.guardrails.protected import is_listed
from orchestrator.inputs import listing
from orchestrator.objects import contents
from orchestrator.repository import Base, Repository
from orchestrator.settings import Policy
from sandbox import scratch

LARGEST = 1 << 20
"""Bytes of one file."""
_VERSION = 1
"""Of what is looked for; rows that were kept by another one are looked for anew."""
_ROW = re.compile(
    rb"(?<![^\0])(100644|100755|120000|040000) (?:blob|tree) ([0-9a-f]{40})\t([^\0]+)\0"
)
_LOOKED_FOR = re.compile(
    rb"(?<![^\0])1\d{5} blob [0-9a-f]{40}\t"
    rb"(?:(?:[^\0]*/)?(?:AGENTS|CLAUDE)\.md|CONTRIBUTING\.md|\.mcp\.json|\.(?:claude|codex)/[^\0]+)\0"
)
_LINK = "120000"
_LINKS = 5
"""So many links in a row are followed."""


@dataclass(frozen=True, slots=True)
class File:
    """One plain file; a link is the file that it leads to, at its own path."""

    path: str
    blob: str
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Committed:
    """The files that agents go by, as one commit has them."""

    repository: Repository
    base: Base
    policy: Policy
    files: Mapping[str, File]
    """By their paths."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What is no file that can be read: why, in a sentence each, by its path."""

    @classmethod
    def of(cls, repository: Repository, base: Base, policy: Policy, pack: Path) -> "Committed":
        """Find them; what was found in a tree is kept beside the base's `pack`.

        A link counts when it stays in the tree and leads to a path that guardrails list: else the
        next run could be told what nobody has reviewed. Raises GitError.
        """
        files: dict[str, File] = {}
        left_out: dict[str, str] = {}
        for row in _rows(_found(repository, base, pack)):
            file = _followed(repository, base, policy, row)
            if isinstance(file, File):
                files[row.path] = file
            else:
                left_out[row.path] = f"{shown(row.path)} is left out: {file}."
        return cls(repository, base, policy, files, left_out)

    def sizes(self, files: Sequence[File]) -> Mapping[str, int]:
        """Bytes by paths; files over `LARGEST` are not among them. Raises GitError."""
        if not files:
            return {}
        asked = "".join(f"{file.blob}\n" for file in files).encode()
        git = self.repository.git
        sizes = map(int, git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked).split())
        paths = (file.path for file in files)
        return {path: size for path, size in zip(paths, sizes, strict=True) if size <= LARGEST}

    def read(self, files: Sequence[File]) -> Mapping[str, bytes]:
        """Contents by paths, of those that `sizes` has. Raises GitError."""
        sizes = self.sizes(files)
        small = [file for file in files if file.path in sizes]
        if not small:
            return {}
        asked = "".join(f"{file.blob}\n" for file in small).encode()
        room = (len(small) + 1) * (LARGEST + 100)
        answer = self.repository.git.run("cat-file", "--batch", stdin=asked, limit=room)
        return dict(zip((file.path for file in small), contents(answer, len(small)), strict=True))


@dataclass(frozen=True, slots=True)
class _Row:
    mode: str
    blob: str
    path: str


def shown(path: str) -> str:
    """A path that cannot be read as anything else, whatever is in its name."""
    return path if path.isprintable() else ascii(path)


def _found(repository: Repository, base: Base, pack: Path) -> bytes:
    kept = pack.with_name(f"{pack.stem}-{_VERSION}.committed")
    with suppress(OSError):
        return kept.read_bytes()
    listed = listing(repository, base.tree)
    found = b"".join(match[0] for match in _LOOKED_FOR.finditer(listed))
    with suppress(OSError), scratch.folder(kept.parent) as place:
        (place / kept.name).write_bytes(found)
        os.replace(place / kept.name, kept)
    return found


def _rows(listed: bytes) -> Iterator[_Row]:
    for mode, blob, path in _ROW.findall(listed):
        with suppress(UnicodeDecodeError):  # no program could be told such a name
            yield _Row(mode.decode("ascii"), blob.decode("ascii"), path.decode("utf-8"))


def _followed(repository: Repository, base: Base, policy: Policy, row: _Row) -> File | str:
    """The file at a row, or why there is none."""
    at = row
    for _ in range(_LINKS):
        if at.mode != _LINK:
            return File(row.path, at.blob, at.mode == "100755")
        target = repository.git.run("cat-file", "blob", at.blob)[:4096].decode("utf-8", "replace")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(at.path), target))
        if path.startswith(("/", "../")) or path == "..":
            return "it is a link out of the repository"
        if "\0" in path:  # git keeps any bytes as a link's
            return f"it is a link to {shown(path)}, which is no file"
        entry = repository.git.run("ls-tree", "-z", "--full-tree", base.tree, "--", path)
        found = next(_rows(entry), None)
        if found is None or found.path != path or found.mode == "040000":
            return f"it is a link to {shown(path)}, which is no file"
        if not is_listed(os.fsencode(path), policy):
            return (
                f"it is a link to {shown(path)}, which any run may change; list that under"
                " `review` in [guardrails]"
            )
        at = found
    return "it is a link in a circle"
