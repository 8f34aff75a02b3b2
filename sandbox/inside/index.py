"""A private git index of /workspace with a place for objects; the agent's .git plays no part.

Configuration, attributes and HEAD are root's, and so are the base's objects. Index and new objects
belong to the user the agent runs as: they are a cache, to be thrown away when git stumbles over it.
"""

import os
import stat
import subprocess
from collections.abc import Callable, Iterable
from typing import NamedTuple

TOOLBOX = "/opt/orchestrator"
GIT = f"{TOOLBOX}/bin/git"
LOADED = (
    *(f"{TOOLBOX}/lib/ld.so", "--inhibit-cache", "--library-path", f"{TOOLBOX}/lib"),
    f"{TOOLBOX}/libexec/git",
)
"""What `GIT` starts, without the shell between."""
WORK = b"/workspace"
STATE = "/var/lib/orchestrator"

SETTINGS = f"{STATE}/git"
"""Root's: HEAD (the base commit), config, attributes."""
STORE = f"{STATE}/objects"
"""Root's: the objects of the base."""
OWN = f"{STATE}/snapshot"
"""The agent's: index and new objects, a cache."""


class Failure(Exception):
    """A git program failed; with a new index and new objects it may not.

    `status` is what to end with: 128 and the signal that ended git, as shells tell it, or else 1.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Index(NamedTuple):
    """An index and a place for new objects."""

    folder: str
    work: bytes = WORK
    settings: str = SETTINGS

    @property
    def file(self) -> str:
        return f"{self.folder}/index"

    @property
    def objects(self) -> str:
        return f"{self.folder}/objects"

    def run(
        self, *arguments: str, stdin: bytes = b"", **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git on the files with this index, with more variables; raises Failure."""
        done = subprocess.run(
            [*LOADED, "--literal-pathspecs", *arguments],
            env=self._environment() | more,
            cwd=self.work,
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            message = f"git {arguments[0]}: {said or f'status {done.returncode}'}"
            raise Failure(message, 128 - done.returncode if done.returncode < 0 else 1)
        return done

    def git(self, *arguments: str, stdin: bytes = b"", **more: str) -> bytes:
        """What git prints."""
        return self.run(*arguments, stdin=stdin, **more).stdout

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_EXEC_PATH": f"{TOOLBOX}/libexec/git-core",
            "GIT_TEMPLATE_DIR": f"{TOOLBOX}/share/templates",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_DIR": self.settings,
            "GIT_WORK_TREE": os.fsdecode(self.work),
            "GIT_INDEX_FILE": self.file,
            "GIT_OBJECT_DIRECTORY": self.objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": STORE,
        }

    def open(self) -> bool:
        """Free it of the lock of a killed snapshot; renew it, and say False, when it is none."""
        os.chmod(self.folder, 0o700)
        remove(f"{self.file}.lock")
        if is_kind(stat.S_ISREG, self.file) and is_kind(stat.S_ISDIR, self.objects):
            return True
        self.renew()
        return False

    def renew(self) -> None:
        """Throw everything away and start from the base."""
        os.chmod(self.folder, 0o700)
        for name in os.listdir(self.folder):
            remove(f"{self.folder}/{name}")
        os.mkdir(self.objects)
        self.git("read-tree", "HEAD")


def is_kind(kind: Callable[[int], bool], path: str | bytes) -> bool:
    """Whether something of this kind, itself no symlink, is at `path`."""
    try:
        return kind(os.lstat(path).st_mode)
    except OSError:
        return False


def remove(path: str) -> None:
    """Remove whatever is there, even where its owner took his own permissions away."""
    if not is_kind(stat.S_ISDIR, path):
        if os.path.lexists(path):
            os.unlink(path)
        return
    os.chmod(path, 0o700)
    for name in os.listdir(path):
        remove(f"{path}/{name}")
    os.rmdir(path)


def split(text: bytes) -> list[bytes]:
    """The items of a NUL-terminated list."""
    return text.split(b"\0")[:-1]


def joined(paths: Iterable[bytes]) -> bytes:
    """The paths as git reads them with -z."""
    return b"".join(path + b"\0" for path in paths)
