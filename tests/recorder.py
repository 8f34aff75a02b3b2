"""Snapshots as a host takes them: one after the other, their objects kept and looked at."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.box import Box
from sandbox.snapshot import Snapshot, take
from sandbox.source import Source

TRACKED = {
    ".gitignore": b"build/\n*.log\n",
    "README": b"a small repository\n",
    "build/keep": b"tracked, though ignored\n",
    "src/app.py": b"print('hello')\n",
    "src/lib.py": b"NAME = 'one'\n",
    "src/old.py": b"NAME = 'two'\n",
    **{f"many/{number}": b"one of many\n" for number in range(40)},
}
"""Enough files that a change of a few is written into a small part of the index."""
SETUP = "mkdir -p egg build/out && echo 1 >egg/PKG && echo o >build/out/o && echo no >>README"
SUBMODULE = "1" * 40


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git as a careful person would: no settings but the repository's."""
    identity = {
        f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    env = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        input=stdin,
        env=env | identity,
        capture_output=True,
        check=True,
    )
    return done.stdout


def shallow_source(folder: Path, files: dict[str, bytes], submodule: str = "") -> Source:
    """Commit these files in a new repository, and pack the commit without its history."""
    git(folder, "init", "-q")
    # Its own name in it: else another worker's could be the same commit, whose image it removes.
    git(folder, "commit", "-q", "--allow-empty", "-m", str(folder))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    git(folder, "add", "-fA")
    if submodule:
        git(folder, "update-index", "--add", "--cacheinfo", f"160000,{SUBMODULE},{submodule}")
    git(folder, "commit", "-q", "-m", "base")
    commit, tree = git(folder, "rev-parse", "HEAD", "HEAD^{tree}").decode().split()
    objects = git(folder, "rev-list", "--objects", "--no-object-names", tree)
    pack = folder / ".git" / "base.pack"
    pack.write_bytes(
        git(folder, "pack-objects", "--stdout", "-q", stdin=f"{commit}\n".encode() + objects)
    )
    return Source(commit, tree, pack)


@dataclass
class Recorder:
    """Takes snapshots one after the other, and keeps their objects as a host would."""

    box: Box
    base: Source
    store: Path
    original: dict[str, bytes]

    def __post_init__(self):
        self.tree = self.base.tree
        git(self.store, "init", "-q", "--bare")
        self._admit(self.base.pack)

    def __call__(self, script: str = "true", **options) -> Snapshot:
        """Run a shell script in the sandbox and record what it did."""
        done = self.box.run(["sh", "-ec", script])
        assert done.exit.ok, done.stderr
        taken = take(self.box.channel, self.tree, self.store / "pack", **options)
        if taken.pack:
            self._admit(taken.pack)
        self.tree = taken.tree
        return taken

    def _admit(self, pack: Path) -> None:
        git(self.store, "index-pack", "--fix-thin", "--stdin", stdin=pack.read_bytes())

    def files(self) -> dict[str, bytes]:
        """The last recorded tree, by path."""
        return {
            path: git(self.store, "cat-file", "blob", oid) for path, _, oid in self._rows("blob")
        }

    def modes(self) -> dict[str, str]:
        return {path: mode for path, mode, _ in self._rows("blob", "commit")}

    def _rows(self, *kinds: str):
        for row in git(self.store, "ls-tree", "-rz", self.tree).split(b"\0")[:-1]:
            facts, _, path = row.partition(b"\t")
            mode, kind, oid = facts.decode().split()
            if kind in kinds:
                yield path.decode("utf-8", "surrogateescape"), mode, oid
