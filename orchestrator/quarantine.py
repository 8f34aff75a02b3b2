"""The run's own bare repository, where objects from a sandbox arrive and are checked.

Only a tree id and a pack come in. The commits are the host's: what a sandbox says of authors,
dates, messages or history is never looked at.
"""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from orchestrator.errors import GitError, QuarantineError
from orchestrator.git import NO_OBJECT, Git
from orchestrator.guardrails.guardrail import Difference
from orchestrator.guardrails.tree import MAX_BLOB, tree
from orchestrator.objects import contents, names
from orchestrator.outcome import Finding
from orchestrator.patch import (
    NUMSTAT,
    RAW,
    UNIFIED,
    Count,
    Entry,
    parse_numstat,
    parse_raw,
)
from orchestrator.repository import Base
from orchestrator.screen import one_line

MAX_PACK = 50 << 20
"""Bytes of one snapshot's pack."""
HARD_PATHS = 200_000
"""Changed paths that are looked at; a pack under 1 KB can describe 100 million."""
HARD_BYTES = 64 << 20
"""Bytes of all their names together, and again of the folders above them: a pack of 60 KB can
describe 3,000 paths whose folders fill 6 GB."""
MAX_DIFF = 128 << 20

_CHECKS = "--strict=badFilemode=error,gitattributesSymlink=error"
"""Both are only warnings by default, and settings of `fsck.*` do not reach index-pack."""
_TIP = "refs/run/tip"
_BASE = "refs/run/base"
_SECONDS = 60.0
_PACKS = 32
"""Packs that git may have to look into one by one; each costs it about 0.1 ms a command."""
_WITHOUT_BLOB = ("000000", "160000")  # what is gone, and a submodule: it is not meant to be here
SMALL = 8 << 20
"""Bytes of blobs that are read at once."""
_TREE_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Note:
    """What the host writes into the message of a change."""

    subject: str
    run: str
    step: int
    tool: str
    worker: str
    model: str = ""
    delegate: str = ""
    """The program to which the worker had delegated that."""

    def message(self) -> str:
        """Subject and trailers; whatever is in them stays on its line."""
        trailers = {
            "Run": self.run,
            "Step": str(self.step),
            "Tool": self.tool,
            "Worker": self.worker,
            "Delegate": self.delegate,
            "Model": self.model,
        }
        lines = [f"{key}: {one_line(value)}" for key, value in trailers.items() if value]
        return one_line(self.subject) + "\n\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded tree: the commit the host made of it, and what its raw difference showed."""

    commit: str
    tree: str
    step: int
    files: int
    added: int
    """Lines; 0 when a finding forbids to read the contents."""
    removed: int
    findings: tuple[Finding, ...] = ()
    difference: Difference | None = field(default=None, compare=False, repr=False)
    """From its parent, for whoever judges it."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Blobs of a quarantine, as guardrails may ask for them."""

    git: Git
    sizes: Mapping[str, int]
    small: dict[str, bytes] = field(default_factory=dict, compare=False)
    """Those that were read at once: a program for each would be most of the time."""

    def size(self, blob: str) -> int:
        """Bytes of the blob, without reading it."""
        known = self.sizes.get(blob)
        return known if known is not None else int(self.git.run("cat-file", "-s", blob))

    def read(self, blob: str) -> bytes:
        """The blob's bytes; only the first 16 MiB of a larger one."""
        if blob in self.sizes and not self.small:
            self.small.update(self._read_small())
        known = self.small.get(blob)
        return self._read(blob) if known is None else known

    def _read_small(self) -> dict[str, bytes]:
        """As many blobs as fit into `SMALL` bytes, the smallest first."""
        room = SMALL
        asked = []
        for name, size in sorted(self.sizes.items(), key=lambda known: known[1]):
            room -= size
            if room < 0:
                break
            asked.append(name)
        order = "\n".join(asked).encode()
        answer = self.git.run("cat-file", "--batch", stdin=order, limit=2 * SMALL)
        return dict(zip(asked, contents(answer, len(asked)), strict=True))

    def _read(self, blob: str) -> bytes:
        pieces = []
        left = MAX_BLOB
        output = self.git.stream("cat-file", "blob", blob, limit=2 * MAX_BLOB)
        for piece in output:
            pieces.append(piece[:left])
            left -= len(piece)
            if left <= 0:
                output.close()
        return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A bare repository that holds the base, without history, and the changes of one run."""

    git: Git

    @classmethod
    def create(cls, path: Path, pack: Path, base: Base) -> "Quarantine":
        """Make one at `path` from the base's pack and the index beside it, whole or not at all."""
        building = path.with_name(path.name + ".new")
        shutil.rmtree(building, ignore_errors=True)
        git = Git(building, confined=True)
        # HEAD names a branch that never exists: newer versions of git read attributes from HEAD.
        git.run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
        # The strongest attributes there are: whatever a tree says, contents are shown and counted.
        (building / "info").mkdir()
        (building / "info/attributes").write_text("* diff -merge -filter -ident -text\n")
        # Before any object, else checks look for parents that are not meant to be here.
        (building / "shallow").write_text(base.commit + "\n")
        for source in (pack.with_suffix(".idx"), pack):
            _link(source, building / "objects/pack" / f"pack-{base.commit}{source.suffix}")
        git.run("update-ref", _BASE, base.commit)
        git.run("update-ref", _TIP, base.commit)
        os.replace(building, path)
        return cls(Git(path, confined=True))

    @classmethod
    def open(cls, path: Path) -> "Quarantine":
        """The quarantine of an earlier run. Raises QuarantineError when there is none."""
        if not (path / "HEAD").is_file():
            raise QuarantineError(f"{path} is missing: the changes of this run are gone.")
        return cls(Git(path, confined=True))

    def admit(self, tree_id: str, pack: Path, *, parent: str, note: Note) -> Change:
        """Check what came out of a sandbox and make it the commit after `parent`.

        Findings do not stop a change from being recorded; they stop it from being published.
        Raises QuarantineError, and records nothing, when the pack is malformed, too large,
        incomplete or takes too long, or when `parent` is no longer the last change; OSError on a
        full disk.
        """
        try:
            self._take_in(tree_id, pack)
            difference = self.difference(parent, tree_id)
            findings = tuple(tree(difference))
            counts = () if findings else self.numstat(parent, tree_id)
            commit = self._commit(tree_id, parent, note.message())
            self.git.run("update-ref", _TIP, commit, parent)
        except GitError as error:
            raise QuarantineError(f"Step {note.step} was refused: {error}") from None
        return Change(
            commit=commit,
            tree=tree_id,
            step=note.step,
            files=len(difference.entries),
            added=sum(count.added for count in counts),
            removed=sum(count.removed for count in counts),
            findings=findings,
            difference=difference,
        )

    def begin_after(self, tip: str) -> None:
        """Count changes that came from an earlier run, of which `tip` is the last, as recorded."""
        self.git.run("update-ref", _TIP, tip, self.base)

    def _take_in(self, tree_id: str, pack: Path) -> None:
        if not _TREE_ID.fullmatch(tree_id):
            raise QuarantineError("The sandbox answered with something that is not a tree id.")
        if pack.stat().st_size > MAX_PACK:
            raise QuarantineError(f"The pack is larger than {MAX_PACK:,} bytes.")
        try:
            self.git.index_pack(pack, _CHECKS, f"--max-input-size={MAX_PACK}", seconds=_SECONDS)
        except (GitError, OSError):
            for begun in self.git.directory.glob("objects/pack/tmp_*"):
                begun.unlink()  # git leaves it; on a full disk, the record needs its room
            raise
        self._index_packs()

    def _index_packs(self) -> None:
        """One index for all packs, now and then: without it each step is slower than the last."""
        if len(list(self.git.directory.glob("objects/pack/*.pack"))) % _PACKS == 0:
            self.git.run("multi-pack-index", "write", "--no-progress")

    def _commit(self, tree_id: str, parent: str, message: str) -> str:
        return self.git.text("commit-tree", tree_id, "-p", parent, stdin=message.encode())

    def squash(self, tip: str, note: Note) -> str:
        """One commit on the base with the tree of `tip`, for a chain that must not be seen."""
        return self._commit(self.tree(tip), self.base, note.message())

    @property
    def base(self) -> str:
        """The commit the run started from."""
        return self.git.text("rev-parse", "--verify", _BASE)

    @property
    def tip(self) -> str:
        """The last recorded commit; the base when nothing changed."""
        return self.git.text("rev-parse", "--verify", _TIP)

    def tree(self, commit: str) -> str:
        """The tree of a commit; of a tree, itself."""
        return self.git.text("rev-parse", "--verify", commit + "^{tree}")

    def log(self, base: str, tip: str) -> tuple[str, ...]:
        """The commits after `base` up to `tip`, oldest first."""
        return tuple(self.git.text("rev-list", "--reverse", f"{base}..{tip}").splitlines())

    def difference(self, old: str, new: str) -> Difference:
        """What guardrails judge: entries, sizes and neighbouring names, no contents."""
        entries = self.entries(old, new)
        return Difference(entries, self._stored(entries), self._folders(new, entries))

    def entries(self, old: str, new: str) -> tuple[Entry, ...]:
        """Every changed path. Raises QuarantineError beyond 200,000."""
        pieces = self.git.stream(*RAW, old, new, seconds=_SECONDS, limit=HARD_BYTES)
        try:
            found = tuple(islice(parse_raw(pieces), HARD_PATHS + 1))
        except GitError as error:
            raise QuarantineError(f"More paths changed than can be looked at: {error}") from None
        pieces.close()
        if len(found) > HARD_PATHS:
            raise QuarantineError(f"More paths changed than can be looked at: over {HARD_PATHS:,}.")
        return found

    @property
    def blobs(self) -> Stored:
        """All blobs, each asked for by itself."""
        return Stored(self.git, {})

    def _stored(self, entries: Iterable[Entry]) -> Stored:
        """The blobs of a difference, with their sizes asked for at once; QuarantineError: not all.

        Folders were read to find the entries, and all else was there before, so the new tree is
        whole. `rev-list --objects` says the same 0.1 s later, after a walk through 80,000 files.
        """
        blobs = {blob for entry in entries for blob in (entry.old_blob, entry.new_blob)}
        asked = "\n".join(sorted(blobs - {NO_OBJECT})).encode()
        wanted = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        answer = self.git.run("cat-file", wanted, stdin=asked, limit=HARD_BYTES).decode("ascii")
        rows = (line.split() for line in answer.splitlines())
        sizes = {row[0]: int(row[2]) for row in rows if row[1] == "blob"}
        for entry in entries:
            if entry.new_blob not in sizes and entry.new_mode not in _WITHOUT_BLOB:
                raise QuarantineError(f"What should be in {entry.name} did not come.")
        return Stored(self.git, sizes)

    def _folders(self, new: str, entries: Iterable[Entry]) -> dict[bytes, tuple[bytes, ...]]:
        """The names in every folder above an added path."""
        folders = sorted(_above(entry.path for entry in entries if entry.status == "A"))
        # The slash at the end: git would take a folder called `x-g<id>` for that very object.
        asked = b"\0".join(
            new.encode() + b"^{tree}:" + folder + b"/" * bool(folder) for folder in folders
        )
        if not folders:
            return {}
        answer = self.git.run("cat-file", "--batch", "-z", stdin=asked, limit=HARD_BYTES)
        return dict(zip(folders, map(names, contents(answer, len(folders))), strict=True))

    def numstat(self, old: str, new: str) -> tuple[Count, ...]:
        """Lines added and removed, for each changed path."""
        return parse_numstat(self.git.run(*NUMSTAT, old, new))

    def diff(self, old: str, new: str) -> bytes:
        """The unified diff; applying it to `old` gives exactly `new`. GitError beyond 128 MiB."""
        return self.git.run(*UNIFIED, old, new, limit=MAX_DIFF)

    def pack(self, tip: str, exclude: str, to: Path) -> Path:
        """Write a thin pack of what `tip` has and `exclude` has not."""
        return self.git.pack(to, tip, exclude)


def _link(source: Path, target: Path) -> None:
    """Share a read-only file where the file system can; else copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _above(paths: Iterable[bytes]) -> set[bytes]:
    """Every folder above these paths. Raises QuarantineError beyond `HARD_BYTES`."""
    found: set[bytes] = set()
    room = HARD_BYTES
    for path in paths:
        folder = path
        while folder and (folder := folder.rpartition(b"/")[0]) not in found:
            found.add(folder)
            room -= len(folder) + 1
        if room < 0:
            raise QuarantineError("Paths changed in more folders than can be looked at.")
    return found
