"""All that can go wrong with a sealed container; a command that fails is a value instead.

    SandboxError
    ├── EngineError          no Docker Engine answers, or it is too old
    │   └── NoRuntimeError   it has no runtime of the name that was given
    ├── ImageError           the image is missing, of another architecture, or cannot be used
    ├── SetupError           a set-up command failed; `output` holds its last lines
    ├── SandboxLostError     the container died or stopped answering
    ├── DiskFullError        the container's or the host's disk is full
    ├── GatewayError         the way out of the sandbox is closed or failed
    └── CrossingError        what should cross the wall is too large, too late or malformed
        ├── CrowdedError     no process was left in the sandbox to look at its files with
        └── KilledError      a signal ended what looked at its files

Every message is one sentence that says what to do next.
"""

from typing import Literal

Limit = Literal["time", "disk"]


class SandboxError(Exception):
    """The sandbox failed, not the command in it."""


class EngineError(SandboxError):
    """No Docker Engine answers, or it is too old."""


class NoRuntimeError(EngineError):
    """The engine has no runtime of the name that was given."""


class ImageError(SandboxError):
    """The image is missing, of another architecture, or cannot be used."""


class SetupError(SandboxError):
    """A set-up command failed; `output` holds the last lines it printed."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class SandboxLostError(SandboxError):
    """The container died or stopped answering.

    `limit` names the limit of its own at which it was ended; without one it crashed.
    """

    def __init__(self, message: str, limit: Limit | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class DiskFullError(SandboxError):
    """The container's or the host's disk is full; `said` is what a program in it said of that."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class CrossingError(SandboxError):
    """What should cross the wall is too large, too late or malformed."""


class GatewayError(SandboxError):
    """The way out of the sandbox is closed or failed; there is no other."""


class CrowdedError(CrossingError):
    """No process was left in the sandbox to look at its files with."""


class KilledError(CrossingError):
    """A signal ended what looked at the sandbox's files; `status` tells which, as shells do."""

    def __init__(self, message: str, status: int = 137) -> None:
        super().__init__(message)
        self.status = status
