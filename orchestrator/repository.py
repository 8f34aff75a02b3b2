"""The user's repository: read, added to, and otherwise left as it is.

Its work tree, index, HEAD and checked-out branches are never written. Commands that could start a
program named in its settings (filters, merge drivers) run in a workbench: a git directory of ours
that only borrows its objects.
"""

import difflib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orchestrator import clone
from orchestrator.errors import ConflictError, GitError, RepositoryError
from orchestrator.git import NO_OBJECT, Git, Place, find
from sandbox import scratch

_PLAIN_SETTINGS = r"^core\.(filemode|ignorecase|symlinks|autocrlf|eol|checkstat|trustctime)$"
"""Settings that say how files are compared and name no program."""

_PACK_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a run starts from."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that can be worked on: it has commits, and SHA-1 names for them."""

    name: str
    """A path or a URL without password, for records and messages."""
    place: Place
    git: Git

    @classmethod
    def open(cls, where: str, home: Path, environ: Mapping[str, str] | None = None) -> "Repository":
        """Find a local repository, or fetch a remote one into `home`.

        Of `environ` a fetch uses proxies, certificate files and the ssh agent. Raises
        RepositoryError with one sentence that says what to do.
        """
        remote = clone.address(where)
        if remote:
            path = clone.fetch(remote, home / "clones", environ or {})
            return cls._checked(remote.url, find(path))
        path = Path(unquote(urlsplit(where).path) if where.startswith("file://") else where)
        return cls._checked(str(path.absolute()), _local(path))

    @classmethod
    def _checked(cls, name: str, place: Place) -> "Repository":
        if not _is_text(name) or not _is_text(str(place.common_dir)):
            raise RepositoryError(
                f"The path {name!a} is not text in UTF-8: rename the folder that is not."
            )
        if place.object_format != "sha1":
            raise RepositoryError(
                f"{name} names its objects by SHA-256, which is not supported:"
                " convert it to SHA-1 or give another repository."
            )
        git = Git(place.git_dir, settings=("core.fsync=all",))
        head = git.ok("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not head and not git.text("for-each-ref", "--count=1", "--format=%(refname)"):
            raise RepositoryError(f"{name} has no commit yet: commit something first.")
        return cls(name, place, git)

    @property
    def git_dir(self) -> Path:
        return self.place.git_dir

    def resolve(self, base: str) -> Base:
        """The commit that a branch, a tag, an id or an expression such as `HEAD~1` names."""
        wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", base + "^{commit}")
        answer = self.git.call(*wanted)
        if answer.status != 0:
            raise RepositoryError(self._unknown(base))
        commit = answer.stdout.decode("ascii").strip()
        try:
            return Base(commit, self.git.text("rev-parse", "--verify", commit + "^{tree}"))
        except GitError as error:
            raise self.incomplete(base, error) from None

    def references(self) -> tuple[str, ...]:
        """Short names of all branches and tags.

        GitPython reads them from the files, without any process.
        """
        import git  # noqa: PLC0415 - takes 0.1 s, and only a mistyped base needs it

        with git.Repo(self.place.common_dir) as repository:
            return tuple(reference.name for reference in repository.references)

    def _unknown(self, base: str) -> str:
        names = self.references()
        ordinary = [name for name in names if not name.startswith("agent/")] or names
        near = difflib.get_close_matches(base, ordinary) or ordinary[:3]
        hint = " or ".join(near) if near else "a commit id"
        return f"{self.name} has no commit called {base!r}: did you mean {hint}?"

    def incomplete(self, base: str, error: GitError) -> RepositoryError:
        """What to do about objects of a base that are missing."""
        if self.is_partial():
            return RepositoryError(
                f"{self.name} is a partial clone without all files of {base}:"
                f" run `git -C {self.name} fetch --refetch --no-filter` first."
            )
        return RepositoryError(
            f"{self.name} lacks objects of {base}: run `git -C {self.name} fsck` ({error})."
        )

    def is_partial(self) -> bool:
        """Whether some objects are only promised by a remote."""
        promises = r"^(remote\..*\.promisor|extensions\.partialclone)$"
        return self.git.ok("config", "--get-regexp", promises)

    def shallow(self) -> frozenset[str]:
        """The commits whose parents this repository does not have."""
        file = self.place.common_dir / "shallow"
        return frozenset(file.read_text("ascii").split()) if file.is_file() else frozenset()

    def has(self, commit: str, path: str) -> bool:
        """Whether a commit has something at a path: a file, a link or a folder."""
        return bool(self.git.run("ls-tree", "--full-tree", commit, "--", path))

    def read(self, commit: str, path: str) -> bytes | None:
        """The contents of a file at a commit, up to 16 MiB; None when there is no such file.

        Raises RepositoryError for a link or a folder: rules must not be lost by what they are in.
        """
        entry = self.git.run("ls-tree", "-z", "--full-tree", commit, "--", path)
        if not entry:
            return None
        if not entry.startswith(b"100"):
            raise RepositoryError(f"{path} is not a plain file at {commit[:10]}: make it one.")
        blob = entry.split(b"\t")[0].split(b" ")[2].decode("ascii")
        return self.git.run("cat-file", "blob", blob)

    def pack(self, base: Base, folder: Path) -> Path:
        """A pack of the base commit and its files, kept in `folder` with its index; no history.

        Raises RepositoryError when the repository lacks some of the files.
        """
        kept = folder / f"{base.commit}.pack"
        # A partial clone is asked anew: a pack kept from a full one would hide what it lacks until
        # the run's branch is published into it.
        if not kept.exists() or self.is_partial():
            folder.mkdir(parents=True, exist_ok=True)
            with scratch.folder(folder) as place:
                self._write_pack(base, place, kept)
        return kept

    def _write_pack(self, base: Base, place: Path, kept: Path) -> None:
        # git begins a pack among the objects and moves it when it is done: in ours, or the user's
        # folder would be written to, and the move fail between two file systems.
        objects = place / "objects"
        self._borrow_objects(objects)
        git = replace(self.git, env={**self.git.env, "GIT_OBJECT_DIRECTORY": str(objects)})
        # What upload-pack says to pack-objects for a client that wants depth 1.
        order = f"--shallow {base.commit}\n{base.commit}\n".encode()
        options = ("--revs", "--quiet", "--delta-base-offset", str(place / "pack"))
        try:
            git.run("pack-objects", *options, stdin=order, seconds=_PACK_SECONDS)
        except GitError as error:
            raise self.incomplete(base.commit, error) from None
        (pack,) = place.glob("pack-*.pack")
        # The pack comes last: where it is, its index is too.
        os.replace(pack.with_suffix(".idx"), kept.with_suffix(".idx"))
        os.replace(pack, kept)
        folder = os.open(kept.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def dirty(self) -> int:
        """How many files differ from HEAD, untracked ones included; 0 without a work tree."""
        return len(self.dirty_paths())

    def dirty_paths(self) -> tuple[str, ...]:
        """The files that differ from HEAD, relative to the work tree."""
        if self.place.work_tree is None:
            return ()
        head = self.git.call("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        with self.workbench() as bench:
            if head.status == 0:
                bench.run("update-ref", "--no-deref", "HEAD", head.stdout.decode("ascii").strip())
            self.lend_index(bench)
            output = bench.run(
                f"--work-tree={self.place.work_tree}",
                *("status", "--porcelain", "-z", "--no-renames"),
                *("--untracked-files=all", "--ignore-submodules=all"),
                limit=256 << 20,
            )
        # Two letters and a space come before each path.
        return tuple(os.fsdecode(each[3:]) for each in output.split(b"\0")[:-1])

    @contextmanager
    def workbench(self) -> Iterator[Git]:
        """A passing git directory that reads this repository's objects under settings of ours."""
        with scratch.folder() as place:
            directory = place / "bench.git"
            bench = Git(directory, settings=self._plain_settings())
            bench.run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
            (directory / "info").mkdir()
            self._borrow_objects(directory / "objects")
            self._copy("shallow", directory)
            yield bench

    def lend_index(self, bench: Git) -> None:
        """Let a workbench see which files are tracked, and which are to be ignored."""
        for name in ("index", "info/exclude"):
            self._copy(name, bench.directory)
        for shared in self.git_dir.glob("sharedindex.*"):  # the rest of a split index
            self._copy(shared.name, bench.directory)

    def _borrow_objects(self, objects: Path) -> None:
        """Make a folder of objects that reads this repository's as if they were its own."""
        (objects / "info").mkdir(parents=True, exist_ok=True)
        own = os.fsencode(self.place.common_dir / "objects")
        (objects / "info/alternates").write_bytes(_quoted(own) + b"\n")

    def _plain_settings(self) -> tuple[str, ...]:
        answer = self.git.call("config", "--null", "--get-regexp", _PLAIN_SETTINGS)
        pairs = answer.stdout.decode("utf-8", "replace").split("\0")[:-1]
        return tuple(pair.replace("\n", "=", 1) for pair in pairs)

    def _copy(self, name: str, directory: Path) -> None:
        """Copy one of git's own files, which a linked worktree has apart from or in common."""
        for source in (self.git_dir / name, self.place.common_dir / name):
            if source.is_file():
                shutil.copy2(source, directory / name)
                return

    def import_pack(self, pack: Path) -> None:
        """Add the objects of a thin pack, checked and on disk before this returns."""
        self.git.index_pack(pack, "--strict", seconds=_PACK_SECONDS)

    def branch(self, name: str) -> str | None:
        """The commit of a branch, or None when there is no such branch."""
        answer = self.git.call("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        return answer.stdout.decode("ascii").strip() if answer.status == 0 else None

    def current_branch(self) -> str | None:
        """The branch that HEAD names, or None when HEAD is detached."""
        # With --short it is `heads/NAME` where a tag has the same name.
        said = self.git.call("symbolic-ref", "--quiet", "HEAD").stdout
        return os.fsdecode(said).strip().removeprefix("refs/heads/") or None

    def checked_out(self) -> Mapping[str, Path]:
        """Where each branch is in use: checked out, or in the middle of a rebase."""
        found = {}
        place = Path()
        for field in self.git.run("worktree", "list", "--porcelain", "-z").split(b"\0"):
            key, _, value = os.fsdecode(field).partition(" ")
            if key == "worktree":
                place = Path(value)
            elif key == "branch":
                found[value.removeprefix("refs/heads/")] = place
        return found | self._rebasing()

    def _rebasing(self) -> dict[str, Path]:
        """A rebase detaches HEAD and moves its branch at the end."""
        common = self.place.common_dir
        found = {}
        for directory in (common, *common.glob("worktrees/*")):
            for state in ("rebase-merge/head-name", "rebase-apply/head-name"):
                if (directory / state).is_file():
                    name = os.fsdecode((directory / state).read_bytes()).strip()
                    found[name.removeprefix("refs/heads/")] = directory
        return found

    def create_branch(self, name: str, commit: str) -> None:
        """Create a branch; ConflictError when it exists."""
        self._write_branch(name, commit, NO_OBJECT)

    def move_branch(self, name: str, new: str, old: str) -> None:
        """Move a branch from one commit to another; ConflictError when it is not at `old`."""
        self._write_branch(name, new, old)

    def delete_branch(self, name: str, old: str) -> None:
        """Delete a branch; ConflictError when it is not at `old`."""
        self._write_branch(name, NO_OBJECT, old)

    def _write_branch(self, name: str, new: str, old: str) -> None:
        done = self.git.call("update-ref", "-m", "orchestrator", f"refs/heads/{name}", new, old)
        if done.status == 0:
            return
        if ".lock'" in done.message:
            raise GitError(
                f"Branch {name} is locked; if no other git is at work in {self.name},"
                f" delete the lock and try again: {done.message}"
            )
        raise ConflictError(f"Branch {name} was not written: {done.message}")


def _local(path: Path) -> Place:
    if not path.exists():
        raise RepositoryError(f"There is no folder {path}: check the path, or give a URL.")
    if not path.is_dir():
        raise RepositoryError(f"{path} is a file: give the folder of a git repository.")
    if path.resolve().name == ".git":
        path = path.resolve().parent
    try:
        place = find(path)
    except GitError as error:
        raise RepositoryError(_why_not(path, str(error))) from None
    if place.work_tree is None and path.resolve() != place.git_dir.resolve():
        raise RepositoryError(
            f"{path} is inside the bare repository {place.git_dir}: give that one."
        )
    return place


def _is_text(path: str) -> bool:
    """Whether records, which are UTF-8, can hold a path."""
    return path == path.encode("utf-8", "replace").decode()


def _why_not(path: Path, reason: str) -> str:
    if "dubious ownership" in reason or "safe.directory" in reason:
        return (
            f"{path} belongs to another user: if you trust it, run"
            f" `git config --global --add safe.directory {path.resolve()}`."
        )
    if "not a git repository" in reason:
        return f"{path} is not a git repository: run `git init` and commit there, or give another."
    return f"git cannot read {path}: {' '.join(reason.split())[:500]}"


def _quoted(path: bytes) -> bytes:
    """A path as a line of `alternates`: quoted as in C where it would not be one line."""
    if not path.startswith(b'"') and b"\n" not in path:
        return path
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
