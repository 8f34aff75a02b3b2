"""Both sides of the exchange: a user's repository, and a sandbox that may write anything."""

import hashlib
import os
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.quarantine import Change, Note, Quarantine
from orchestrator.repository import Base, Repository

NOTE = Note("edit_file a.txt", run="r1", step=1, tool="edit_file", worker="agent", model="x:y")

Leaf = tuple[str, bytes]
"""A mode, and the blob's bytes; of a submodule, its commit id."""


def git(where: Path, *args: str, stdin: bytes = b"", status: int = 0) -> bytes:
    """What the user's own git prints, with nobody's settings."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "user@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(["git", *args], cwd=where, env=env, input=stdin, capture_output=True)
    assert done.returncode == status, done.stderr
    return done.stdout


def start(path: Path, files: Mapping[str, bytes], *options: str) -> Path:
    """A repository of the user's with one commit."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main", *options)
    commit(path, files)
    return path


def commit(path: Path, files: Mapping[str, bytes]) -> str:
    """Write and commit files the way a user does."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--allow-empty", "--message", "work")
    return git(path, "rev-parse", "HEAD").decode().strip()


def fingerprint(path: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and content of everything below a folder."""
    found = {}
    for file in sorted(path.rglob("*")):
        stat = file.lstat()
        content = os.readlink(file).encode() if file.is_symlink() else b""
        if file.is_file() and not file.is_symlink():
            content = file.read_bytes()
        time = 0 if file.is_dir() else stat.st_mtime_ns
        found[str(file.relative_to(path))] = (stat.st_mode, time, hashlib.sha1(content).hexdigest())
    return found


@dataclass(frozen=True)
class Inside:
    """A git directory that belongs to a sandbox: any object can be put into it, also bad ones."""

    path: Path

    @classmethod
    def create(cls, path: Path, pack: Path) -> "Inside":
        path.mkdir()
        git(path, "init", "--quiet", "--bare")
        git(path, "index-pack", "--stdin", stdin=pack.read_bytes())
        return cls(path)

    def put(self, kind: str, content: bytes) -> str:
        """Write one object, unchecked."""
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.sha1(whole).hexdigest()
        file = self.path / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(whole, 1))
        return name

    def files(self, tree: str) -> dict[bytes, Leaf]:
        """All files of a tree."""
        found = {}
        for line in git(self.path, "ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
            head, path = line.split(b"\t", 1)
            mode, kind, name = head.decode().split()
            content = git(self.path, "cat-file", "blob", name) if kind == "blob" else name.encode()
            found[path] = (mode, content)
        return found

    def tree(self, files: Mapping[bytes, Leaf]) -> str:
        """A tree of exactly these files, under any names and modes."""
        folders: dict[bytes, dict[bytes, Leaf]] = {}
        entries = []
        for path, leaf in files.items():
            first, slash, rest = path.partition(b"/")
            if slash:
                folders.setdefault(first, {})[rest] = leaf
            else:
                entries.append((first, leaf[0], self._leaf(leaf)))
        entries += [(name, "40000", self.tree(inner)) for name, inner in folders.items()]
        entries.sort(key=lambda entry: entry[0] + b"/" * (entry[1] == "40000"))
        raw = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(child)
            for name, mode, child in entries
        )
        return self.put("tree", raw)

    def _leaf(self, leaf: Leaf) -> str:
        mode, content = leaf
        return content.decode() if mode == "160000" else self.put("blob", content)

    def pack(self, tree: str, *without: str) -> Path:
        """What a snapshot sends out: the tree's objects that the other side lacks."""
        order = "\n".join([tree, *(f"^{other}" for other in without)]) + "\n"
        out = self.path / f"{tree}.pack"
        out.write_bytes(
            git(self.path, "pack-objects", "-q", "--revs", "--thin", "--stdout",
                stdin=order.encode())
        )  # fmt: skip
        return out


@dataclass(frozen=True)
class Exchange:
    """A user's repository with a run's quarantine and its sandbox's side."""

    user: Path
    repository: Repository
    base: Base
    quarantine: Quarantine
    inside: Inside

    @classmethod
    def create(cls, root: Path, files: Mapping[str, bytes]) -> "Exchange":
        return cls.over(start(root / "user", files), root)

    @classmethod
    def over(cls, user: Path, root: Path) -> "Exchange":
        repository = Repository.open(str(user), root / "home")
        base = repository.resolve("HEAD")
        pack = repository.pack(base, root / "packs")
        quarantine = Quarantine.create(root / "quarantine.git", pack, base)
        return cls(user, repository, base, quarantine, Inside.create(root / "inside.git", pack))

    def changed(self, files: Mapping[bytes, Leaf | None], parent: str = "") -> str:
        """The tree of `parent` with some files written, or deleted where there is None."""
        whole = self.inside.files(self.quarantine.tree(parent or self.base.commit))
        whole |= {path: leaf for path, leaf in files.items() if leaf}
        return self.inside.tree({path: whole[path] for path in whole if files.get(path, True)})

    def admit(self, files: Mapping[bytes, Leaf | None], parent: str = "") -> Change:
        """Change some files in the sandbox and record that."""
        return self.admit_tree(self.changed(files, parent), parent)

    def admit_tree(self, tree: str, parent: str = "") -> Change:
        before = parent or self.base.commit
        pack = self.inside.pack(tree, self.quarantine.tree(before))
        return self.quarantine.admit(tree, pack, parent=before, note=NOTE)
