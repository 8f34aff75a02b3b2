"""Whether the kernel killed a process of a sandbox for memory, from the kernel's own count of it.

Not from the engine's `OOMKilled`: that is false for an exec'd process, and stays true for good once
any child was killed.
"""

import contextlib
import re
from collections.abc import Iterator

from sandbox.channel import Chunk
from sandbox.container import death
from sandbox.engine import Engine
from sandbox.errors import CrossingError, KilledError, SandboxLostError
from sandbox.exec import ExecChannel
from sandbox.hardening import BUSYBOX
from sandbox.limits import Limits, shown

COUNTS = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")
"""Of the container's own control group, version 1 and 2. Its mount is read-only for everybody in
there, and no process inside can touch the program that reads it, which runs as root."""
KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)
SIGNALLED = 128
"""From this exit status on, a signal ended the command or, as shells tell it, its last child."""

UNRECORDABLE = (
    "The sandbox's files cannot be recorded within its memory: raise `memory` under [sandbox] "
    "(it is {memory}), or have the work leave less running and less in /tmp."
)


class Kills:
    """The processes of one container that the kernel killed for memory."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._api = engine.client.api
        self._container = container
        # Not docker-py's own reading: it loses what comes in one piece with the answer's header.
        # Nothing is to be ended where it comes late.
        self._exec = ExecChannel(engine, container, user="0:0", end_all=lambda: None)
        self._known = 0

    def behind(self, status: int) -> bool:
        """Whether an exit status is due to it: there were more of them since the last such look.

        It costs nothing unless a signal ended the command. Raises SandboxLostError when that came
        from the end of the whole container.
        """
        if status < SIGNALLED:
            return False
        known, self._known = self._known, self._count()
        return self._known > known

    @contextlib.contextmanager
    def told(self, limits: Limits) -> Iterator[None]:
        """Name the limit where it ended what records the files. Raises CrossingError."""
        try:
            yield
        except KilledError as error:
            if not self.behind(error.status):
                raise
            raise CrossingError(UNRECORDABLE.format(memory=shown(limits.memory))) from error

    def _count(self) -> int:
        said = b""
        try:
            for item in self._exec.start([BUSYBOX, "cat", *COUNTS], cwd="/"):
                said += item.data if isinstance(item, Chunk) else b""
        except SandboxLostError:
            if dead := death(self._api, self._container):
                raise dead from None
        return max((int(count) for count in KILLS.findall(said)), default=self._known)
