"""The only door to the git program on the host.

Every command gets an environment and settings of its own, so that nothing the user, the system or a
repository configured can start another program, reach the network or ask a question.
"""

import errno
import functools
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from orchestrator.errors import GitError, RepositoryError

OLDEST = (2, 38)
"""The first git with `merge-tree --write-tree` and `cat-file -z`."""

AUTHOR = "Orchestrator"
EMAIL = "orchestrator@localhost"
"""Who writes every commit; what a sandbox says about authorship is only data."""

LIMIT = 16 << 20
"""Bytes of output one command may print, unless its caller says otherwise."""

NO_OBJECT = "0" * 40
"""Git's word for "no such object", as the old value of a ref that must not exist."""

_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",  # no ~/.gitconfig, ~/.netrc, ~/.config/git/attributes
    "LANG": "C.UTF-8",  # messages are parsed
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to answer
    "GIT_ASKPASS": "/bin/false",
    "SSH_ASKPASS": "/bin/false",
    "GIT_SSH_COMMAND": "/bin/false",
    "GIT_ALLOW_PROTOCOL": "",  # no transport at all; a fetch names the one it needs
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not go to the network by itself
    "GIT_NO_REPLACE_OBJECTS": "1",  # refs/replace would show other content than the id says
    "GIT_OPTIONAL_LOCKS": "0",  # never refresh anybody's index
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "/bin/false",
    "GIT_SEQUENCE_EDITOR": "/bin/false",
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be called ":(top)*"
    "GIT_AUTHOR_NAME": AUTHOR,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": AUTHOR,
    "GIT_COMMITTER_EMAIL": EMAIL,
}

_SETTINGS = (
    "core.hooksPath=/dev/null",  # no hook, not even reference-transaction
    "core.fsmonitor=false",  # may name a program
    "core.attributesFile=/dev/null",  # attributes choose filters and drivers
    "core.excludesFile=/dev/null",
    "core.sshCommand=/bin/false",
    "core.askPass=/bin/false",
    "core.alternateRefsCommand=",
    "credential.helper=",  # an empty value clears the list
    "protocol.allow=never",
    "submodule.recurse=false",
    "gpg.program=/bin/false",
    "gpg.ssh.program=/bin/false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",  # no background process in anybody's repository
    "maintenance.auto=false",
    "core.protectHFS=true",  # what is a .git folder anywhere is one here
    "core.protectNTFS=true",
    "core.bigFileThreshold=16m",  # larger blobs are streamed, never held in memory
    "core.packedGitWindowSize=32m",  # keeps mapped packs far below the address space limit
    "core.packedGitLimit=512m",
    "pack.packSizeLimit=0",  # one pack is one file
    "safe.bareRepository=explicit",  # only the git directory named here, never a found one
)

_FULL = {
    "No space left on device": errno.ENOSPC,
    "Disk quota exceeded": errno.EDQUOT,
}
"""What the system says of it, at the end of git's last word, which repeats nothing it has read."""

_CONFINED = 'ulimit -f "$1"; ulimit -t "$2"; ulimit -v "$3" 2>/dev/null; shift 3; exec "$@"'
"""Limits without `preexec_fn`, which can deadlock beside threads. A limit that cannot be set is one
that is already lower, or (`-v` on macOS) one that the system does not have."""

_FILE_BLOCKS = (4 << 30) // 512
_CPU_SECONDS = 60
_ADDRESS_KIB = 2 << 20


@dataclass(frozen=True, slots=True)
class Ended:
    """How a git command ended and what it printed."""

    status: int
    stdout: bytes
    message: str
    """What it complained of, in one line fit for showing."""


@dataclass(frozen=True, slots=True)
class Git:
    """The git program, bound to one git directory."""

    directory: Path
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for every command, over the fixed ones."""
    settings: tuple[str, ...] = ()
    """`key=value` settings for every command, over the fixed ones."""
    confined: bool = False
    """True where objects may be hostile: memory, processor time and file size are limited."""

    def run(
        self,
        *args: str,
        stdin: bytes | IO[bytes] = b"",
        seconds: float = 60.0,
        limit: int = LIMIT,
    ) -> bytes:
        """What the command printed. Raises GitError when it fails, is late or prints too much.

        On a full disk it is the OSError of the system.
        """
        return b"".join(self.stream(*args, stdin=stdin, seconds=seconds, limit=limit))

    def text(self, *args: str, stdin: bytes = b"") -> str:
        """One short answer, without its newline."""
        return self.run(*args, stdin=stdin).decode("utf-8", "replace").rstrip("\n")

    def ok(self, *args: str) -> bool:
        """Whether the command ended with status 0."""
        return self.call(*args).status == 0

    def call(self, *args: str, stdin: bytes = b"", seconds: float = 60.0) -> Ended:
        """Run a command whose failure is an answer. Raises GitError only when late or too long."""
        errors = bytearray()
        with self._started(args, stdin) as process:
            deadline = time.monotonic() + seconds
            output = b"".join(_output(process, args, deadline, LIMIT, errors))
            return Ended(process.wait(), output, last_words(errors))

    def stream(
        self,
        *args: str,
        stdin: bytes | IO[bytes] = b"",
        seconds: float = 60.0,
        limit: int = LIMIT,
    ) -> Generator[bytes, None, None]:
        """The output in pieces as it comes; GitError as in `run`. Closing it ends the command."""
        errors = bytearray()
        with self._started(args, stdin) as process:
            yield from _output(process, args, time.monotonic() + seconds, limit, errors)
            if process.wait() != 0:
                self._require_room(errors)
                raise GitError(f"git {_verb(args)} failed: {last_words(errors)}")

    def _require_room(self, errors: bytes | bytearray) -> None:
        """Raise the system's own error when git complained of a full disk: nothing was refused."""
        for word, number in _FULL.items():
            if last_words(errors).endswith(f": {word}"):
                raise OSError(number, word, str(self.directory))

    def index_pack(self, pack: Path, *options: str, seconds: float = 60.0) -> None:
        """Take in the objects of a pack, possibly a thin one, after checking every one of them."""
        with pack.open("rb") as stdin:
            self.run(
                *("index-pack", *options, "--fix-thin", "--stdin"), stdin=stdin, seconds=seconds
            )

    def pack(self, to: Path, tip: str, *without: str) -> Path:
        """Write a thin pack of what `tip` has and the others have not."""
        order = "".join(f"{line}\n" for line in (tip, *(f"^{other}" for other in without)))
        options = ("--revs", "--thin", "--stdout", "--quiet", "--delta-base-offset")
        with to.open("wb") as file:
            for piece in self.stream(
                "pack-objects", *options, stdin=order.encode(), seconds=600.0, limit=4 << 30
            ):
                file.write(piece)
        return to

    @contextmanager
    def _started(
        self, args: Sequence[str], stdin: bytes | IO[bytes]
    ) -> Iterator[subprocess.Popen[bytes]]:
        with _as_file(stdin) as source:
            process = subprocess.Popen(
                self._command(args),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**_ENVIRONMENT, **self.env},
                cwd=self.directory if self.directory.is_dir() else "/",
                start_new_session=True,  # so that helpers of a fetch end with it
            )
        with process:
            try:
                yield process
            finally:
                if process.returncode is None:  # not waited for: the id is still its own
                    os.killpg(process.pid, signal.SIGKILL)

    def _command(self, args: Sequence[str]) -> list[str]:
        settings = [word for pair in (*_SETTINGS, *self.settings) for word in ("-c", pair)]
        command = [program(), "--no-pager", *settings, f"--git-dir={self.directory}", *args]
        if not self.confined:
            return command
        limits = [str(_FILE_BLOCKS), str(_CPU_SECONDS), str(_ADDRESS_KIB)]
        # One thread, because each reserves address space for its stack and heap.
        command[2:2] = ["-c", "pack.threads=1"]
        return ["/bin/sh", "-c", _CONFINED, "sh", *limits, *command]


@dataclass(frozen=True, slots=True)
class Place:
    """Where git found a repository."""

    git_dir: Path
    common_dir: Path
    """Differs from `git_dir` in a linked worktree."""
    work_tree: Path | None
    """None in a bare repository."""
    object_format: str


def find(where: Path) -> Place:
    """Ask git for the repository at a folder, or above it.

    Only here the user's own settings count: `safe.directory` decides whose repositories the user
    trusts, and git's rules for that are not repeated by us. Reading a place starts no program.
    Raises GitError with git's reason.
    """
    env = {"HOME": str(Path.home()), "PATH": _ENVIRONMENT["PATH"], "LANG": "C.UTF-8"}
    settings = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    question = ("--absolute-git-dir", "--git-common-dir", "--show-object-format")
    answers = []
    for flags in (question, ("--show-toplevel",)):
        done = subprocess.run(
            [program(), *settings, "-C", str(where), "rev-parse", *flags],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0 and flags is question:
            raise GitError(done.stderr.decode("utf-8", "replace"))
        answers.append(os.fsdecode(done.stdout).rstrip("\n"))
    git_dir, common_dir, object_format = answers[0].rsplit("\n", 2)
    work_tree = Path(answers[1]) if answers[1] else None
    return Place(Path(git_dir), (where / common_dir).resolve(), work_tree, object_format)


def program() -> str:
    """The path of a git that is new enough. Raises RepositoryError with what to install."""
    found = shutil.which("git")
    if found is None:
        raise RepositoryError("git was not found: install git 2.38 or later.")
    have = version(found)
    if tuple(map(int, have.split("."))) < OLDEST:
        raise RepositoryError(f"git {have} is too old: install git 2.38 or later.")
    return found


@functools.cache
def version(found: str) -> str:
    """What a git program calls its version, as in `2.39.5`."""
    words = subprocess.run([found, "version"], capture_output=True, timeout=60, check=False).stdout
    match = re.search(rb"(\d+)\.(\d+)(?:\.(\d+))?", words)
    return b".".join(match.groups(b"0")).decode("ascii") if match else "0"


_NO_CONNECTION = "fatal: Could not read from remote repository."


def last_words(errors: bytes | bytearray) -> str:
    """The line that says what went wrong, without control characters.

    That is git's last `fatal:` or `error:`; advice may follow it. Where git only says that the
    connection failed, the reason is what ssh said before it.
    """
    lines = [line.strip() for line in errors.decode("utf-8", "replace").split("\n") if line.strip()]
    if _NO_CONNECTION in lines[1:]:
        lines = lines[: lines.index(_NO_CONNECTION, 1)]
    grave = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    line = (grave or lines or ["it said nothing"])[-1]
    return "".join(char if char.isprintable() else "?" for char in line)[:500]


def _verb(args: Sequence[str]) -> str:
    return next((arg for arg in args if not arg.startswith("-")), "")


@contextmanager
def _as_file(stdin: bytes | IO[bytes]) -> Iterator[IO[bytes] | int]:
    """A file cannot block as a pipe can when git stops reading."""
    if not isinstance(stdin, bytes):
        yield stdin
    elif not stdin:
        yield subprocess.DEVNULL
    else:
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            yield file


def _output(
    process: subprocess.Popen[bytes],
    args: Sequence[str],
    deadline: float,
    limit: int,
    errors: bytearray,
) -> Iterator[bytes]:
    """Stdout in pieces, up to the limit and the deadline; the end of stderr goes to `errors`."""
    assert process.stdout is not None
    assert process.stderr is not None
    with selectors.DefaultSelector() as streams:
        streams.register(process.stdout, selectors.EVENT_READ)
        streams.register(process.stderr, selectors.EVENT_READ)
        while streams.get_map():
            ready = streams.select(max(deadline - time.monotonic(), 0))
            if not ready:
                raise GitError(f"git {_verb(args)} did not end in time.")
            for key, _ in ready:
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    streams.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors += piece
                    del errors[:-4096]
                else:
                    limit -= len(piece)
                    if limit < 0:
                        raise GitError(f"git {_verb(args)} printed too much.")
                    yield piece
