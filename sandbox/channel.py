"""How a command is run in a sandbox, whatever carries its bytes."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sandbox.pipe import Pipe
from sandbox.stream import Exit, Stream

WORKSPACE = "/workspace"
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some bytes of a command's output, as they came: lines are not whole."""

    stream: Stream
    data: bytes


Output = Generator[Chunk | Exit, None, None]
Watched = Generator[Chunk | Exit | None, None, None]
"""Output that is not waited for: None where nothing has come yet."""
Nothing = TypeVar("Nothing")
"""What stands where nothing has come, if anything may."""


class Channel(Protocol):
    """Runs one command at a time, or several from several threads.

    `FramedChannel` is the fast one. `ExecChannel` is for evidence: there the exit status is the
    engine's own, which nothing in the sandbox can forge.
    """

    def start(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | Pipe = b"",
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
    ) -> Output:
        """Run a command and yield what it prints; the last item is its Exit.

        What it reads is `stdin`: all of it at once or, by a Pipe of its own, piece by piece while
        it runs.
        The command starts with the first item asked for; when the iterator is closed early, the
        command and all it started end. At the limit of `seconds` so they do as well. Processes that
        a command left behind when it ended by itself stay, but what they print is lost.
        A program that is missing or cannot be started is an Exit of 127 or 126 like in a shell; a
        command that was ended from elsewhere, as by a sweep, one of 137.

        Raises SandboxLostError when the container died or nothing could end the command, and
        CrossingError when what comes out is malformed.
        """
        ...

    def call(
        self, program: str, *arguments: str, stdin: bytes = b"", seconds: float = 120.0
    ) -> Output:
        """Run one of our own programs, named by its file in `sandbox/inside`; like `start`."""
        ...

    def sweep(self) -> None:
        """Kill every process of the working user, daemons and a live fork bomb included.

        Raises SandboxLostError when the container does not answer.
        """
        ...
