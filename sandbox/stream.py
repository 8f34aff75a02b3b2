"""What a command says and how it ends."""

from dataclasses import dataclass
from typing import Literal

Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a command's output, without its newline."""

    stream: Stream
    data: bytes
    cut: bool = False
    """True when the line was longer than the cap and only its start is here."""

    @property
    def text(self) -> str:
        """The line as text; bytes that are not UTF-8 show as U+FFFD."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended."""

    status: int
    """The exit status; 128 + N after signal N; 124 when the time limit ended it."""
    seconds: float
    timed_out: bool = False
    size: int = 0
    """Bytes the command printed in all, of which the lines may show fewer."""
    out_of_memory: bool = False
    """True when a signal ended it and the kernel had killed a process of the sandbox for memory."""

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.timed_out


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished command with what it printed, up to the cap."""

    exit: Exit
    stdout: bytes
    stderr: bytes
