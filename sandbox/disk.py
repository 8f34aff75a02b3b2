"""A sandbox's share of the disk: a quota where the engine has one, else a watch that ends it.

The watch also looks at the room that is left for everybody, when the engine is on this machine.
"""

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docker.api.client import APIClient
from docker.errors import DockerException
from requests.exceptions import RequestException

from sandbox.container import DISK_SIGNAL, HOST_SIGNAL
from sandbox.engine import Engine, facts

INTERVAL = 1.0
"""Seconds between two looks, at least."""
EFFORT = 10
"""A look that took a second is followed by so many of rest: the engine walks through all new files,
0.5 s for 100,000 of them."""
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
def watched(engine: Engine, container: str, size: int) -> Iterator[None]:
    """End the container when its files exceed `size` bytes or fill the machine's disk.

    `container.lost` tells afterwards which of the two it was.
    """
    closing = threading.Event()
    watch = _Watch(engine.client.api, container, size)
    thread = threading.Thread(target=watch.keep, args=(closing.wait,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        closing.set()
        thread.join(LEAVING)


class _Watch:
    """Looks at one container's files and at the engine's disk, in a thread of its own."""

    def __init__(self, api: APIClient, container: str, size: int) -> None:
        self._api = api
        self._container = container
        self._size = size
        self._floor: Room | None = None
        self._next = 0.0

    def keep(self, closing: Callable[[float], bool]) -> None:
        """Look until the container has ended; the first time after a rest, many are brief."""
        alive = True
        while alive and not closing(INTERVAL):
            with contextlib.suppress(*GONE):  # an engine that is restarted answers later
                alive = self._look()

    def _look(self) -> bool:
        """Whether the container still runs."""
        if self._crowded():
            self._api.kill(self._container, int(HOST_SIGNAL))
        began = time.monotonic()
        if began < self._next:
            return True
        used = self._used()
        if used is not None and used > self._size:
            self._api.kill(self._container, int(DISK_SIGNAL))
        self._next = time.monotonic() + EFFORT * (time.monotonic() - began)
        return used is not None

    def _crowded(self) -> bool:
        root = _root(self._api)
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
def _root(api: APIClient) -> Path | None:
    """The folder where the engine keeps everything, when it is on this machine."""
    if not api.base_url.startswith("http+docker://"):
        return None
    root = Path(api.info()["DockerRootDir"])
    return root if root.is_dir() else None
