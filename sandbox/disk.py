"""A sandbox's share of the disk: a quota where the engine has one, else a watch that ends it.

The watch also looks at the room that is left for everybody, when the engine is on this machine.

With each snapshot the sandbox tells the room that it has left. It may lie, and harms its own run
alone. Too little ends it, or has the watch look once more with that snapshot. Too much, and all is
as if nothing were told: a quota holds, the watch looks as often as before, and the model of this
run may be asked again, within the run's own limits.
"""

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from docker.errors import DockerException
from requests.exceptions import RequestException

from sandbox.container import DISK_SIGNAL, HOST_SIGNAL, ended
from sandbox.engine import Engine, facts, is_local
from sandbox.errors import SandboxLostError
from sandbox.limits import Limits, shown

INTERVAL = 1.0
"""Seconds between two looks, at least."""
EFFORT = 10
"""A look that took a second is followed by so many of rest: the engine walks through all new files,
0.5 s for 100,000 of them."""
QUICK = 0.1
"""Seconds of a look that is made whenever it is asked for."""
SPARE_BYTES, SPARE_FILES = 1 << 30, 50_000
"""What must stay free for everybody, or half of what was free at first where that is less."""
LEAVING = 5.0
"""Seconds to wait for a look that goes on when the sandbox is closed."""
GONE = (DockerException, RequestException, OSError)
WITH_QUOTA = (("overlay2", "xfs"), ("zfs", ""))
"""Storage drivers and file systems below them that can know `--storage-opt size=`. Whether they do
is seen when a container is created: xfs, for one, has to be mounted with `pquota`.

Not btrfs: Docker Engine 26.1 takes the option there and counts the image, too; and while btrfs
calls its counts "inconsistent" (Linux 6.18), 900 MB were written where the size was 600 MB."""
FULL = ("no space left on device", "disk quota exceeded")
"""What the system says of a full disk and of a quota that is used up: xfs says the first of both,
btrfs has words of its own."""
FULL_DISK = (
    "The sandbox's disk is full: raise `disk` under [sandbox] (it is {disk}), have the work leave "
    "less behind, or free some space on the Docker Engine's machine."
)
FULL_MEMORY = (
    "The sandbox's memory for /workspace is full: raise `memory` under [sandbox] (it is {memory}, "
    "of which half is for /workspace), or have the work leave less behind."
)


@dataclass(frozen=True, slots=True)
class Room:
    """What is free on a disk."""

    size: int
    """Bytes."""
    files: int
    """Inodes; as many as anybody wants where the file system does not count them."""

    @classmethod
    def at(cls, folder: Path) -> "Room":
        """What is free where this folder is."""
        facts = os.statvfs(folder)
        files = facts.f_favail if facts.f_files else SPARE_FILES << 1
        return cls(facts.f_bavail * facts.f_frsize, files)

    def spare(self) -> "Room":
        """What of this must stay free."""
        return Room(min(SPARE_BYTES, self.size // 2), min(SPARE_FILES, self.files // 2))

    def below(self, floor: "Room") -> bool:
        """Whether less is free than there."""
        return self.size < floor.size or self.files < floor.files


PLENTY = Room(1 << 62, 1 << 62)
"""As a sandbox says where its file system does not count."""
LEAST = Room(1 << 20, 16)
"""Where less is left, it is full: programs write in blocks, and a quota on xfs keeps some back."""


@dataclass(frozen=True, slots=True)
class Left:
    """The room that a sandbox says it has left."""

    root: Room
    """For all that is not below a mount of its own, HOME among it."""
    workspace: Room
    """The same again where the files are not in memory."""


def full(left: Left, limits: Limits) -> str:
    """What there is to say when no room is left; else nothing."""
    if left.root.below(LEAST):
        return FULL_DISK.format(disk=shown(limits.disk))
    if limits.workspace == "memory" and left.workspace.below(LEAST):
        return FULL_MEMORY.format(memory=shown(limits.memory))
    return ""


def unrecordable(limits: Limits, said: str) -> str:
    """What there is to say when a program that records the files says that there is no room."""
    which, size = "`disk`", f"it is {shown(limits.disk)}"
    if limits.workspace == "memory":
        which = "`memory` or `disk`"
        size = f"they are {shown(limits.memory)} and {shown(limits.disk)}"
    return (
        f"The sandbox's disk is full: raise {which} under [sandbox] ({size}), or have the work"
        f" leave less behind. ({said})"
    )


def says_full(text: str) -> bool:
    """Whether a program's words are of a disk, or a quota, that is full."""
    return any(words in text.lower() for words in FULL)


def has_quota(engine: Engine) -> bool:
    """Whether the engine's storage may know quotas, by what it says of itself."""
    said = facts(engine)
    system = dict(said["DriverStatus"] or ()).get("Backing Filesystem", "")
    return knows_quotas(said["Driver"], system)


def knows_quotas(driver: str, system: str) -> bool:
    """Whether a storage driver on a file system may know them."""
    return (driver, system) in WITH_QUOTA or (driver, "") in WITH_QUOTA


@contextlib.contextmanager
def watched(engine: Engine, container: str, size: int) -> Iterator["Watch"]:
    """End the container when its files exceed `size` bytes or fill the machine's disk.

    `container.lost` tells afterwards which of the two it was.
    """
    closing = threading.Event()
    watch = Watch(engine, container, size)
    thread = threading.Thread(target=watch.keep, args=(closing.wait,), daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        closing.set()
        thread.join(LEAVING)


class Watch:
    """Looks at one container's files and at the engine's disk, in a thread of its own.

    Between two of its looks, whoever is about to pay for what follows asks for another.
    """

    def __init__(self, engine: Engine, container: str, size: int) -> None:
        self.over: SandboxLostError | None = None
        """Why the container was ended by it, as the error to raise."""
        self._engine = engine
        self._api = engine.client.api
        self._container = container
        self._size = size
        self._floor: Room | None = None
        self._next = 0.0
        self._took = 0.0
        """Seconds that the last look at the files needed."""
        self._told: int | None = None
        """Bytes free, as the sandbox told last."""
        self._worth: int | None = None
        """Bytes free at which the next look is worth its time, however long it takes."""
        self._looking = threading.Lock()

    def keep(self, closing: Callable[[float], bool]) -> None:
        """Look until the container has ended; the first time after a rest, many are brief."""
        alive = True
        while alive and not closing(INTERVAL):
            alive = self._look() is not False

    def quick(self) -> bool:
        """Whether it was found alive and within its limits just now; not asked if that is slow."""
        return self._took < QUICK and self._look(now=True) is True

    def count(self) -> None:
        """Look now, however long it takes; `over` says what came of it."""
        self._look(now=True)

    def told(self, free: int) -> None:
        """So many bytes are free; look at once where the sandbox can have used up its share."""
        self._told = free
        if self._worth is None or free <= self._worth:
            self._look(now=True)

    def end(self, by: Signals = DISK_SIGNAL) -> None:
        """End the container; `over` says so. Raises what is in `GONE` when it has ended before."""
        self._api.kill(self._container, int(by))
        self.over = ended(by, self._size)

    def _look(self, now: bool = False) -> bool | None:
        """Whether the container still runs; None when that was not asked, or not answered."""
        with self._looking, contextlib.suppress(*GONE):  # an engine that is restarted answers later
            if self._crowded():
                self.end(HOST_SIGNAL)
                return False
            began = time.monotonic()
            if began < self._next and not now:
                return None
            told = self._told
            used = self._used()
            if used is not None and used > self._size:
                self.end()
            self._took = time.monotonic() - began
            self._next = time.monotonic() + EFFORT * self._took
            if used is not None and told is not None:
                # Half of what it may still write: others may make room meanwhile.
                self._worth = told - (self._size - used) // 2
            return used is not None and self.over is None
        return None

    def _crowded(self) -> bool:
        root = _root(self._engine)
        if root is None:
            return False
        room = Room.at(root)
        self._floor = self._floor or room.spare()
        return room.below(self._floor)

    def _used(self) -> int | None:
        """Bytes of the container's own layer; None when it does not run any more."""
        found = self._api.containers(size=True, filters={"id": self._container})
        return int(found[0].get("SizeRw", 0)) if found else None


@functools.lru_cache(maxsize=8)
def _root(engine: Engine) -> Path | None:
    """The folder where the engine keeps everything, when it is on this machine."""
    if not is_local(engine.client):
        return None
    root = Path(facts(engine)["DockerRootDir"])
    return root if root.is_dir() else None
