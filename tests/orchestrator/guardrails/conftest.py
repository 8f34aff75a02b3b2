"""Changes as the host sees them, built in memory: entries and blobs, no repository needed."""

import hashlib
from dataclasses import dataclass, field

import pytest

from orchestrator.guardrails.guardrail import Difference
from orchestrator.patch import Entry

NONE = ("000000", "0" * 40)


@dataclass
class Store:
    """Blobs by id, read as the real ones are: only the first 16 MiB."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def add(self, data: bytes) -> str:
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        self.contents[blob] = data
        return blob

    def size(self, blob: str) -> int:
        return len(self.contents[blob])

    def read(self, blob: str) -> bytes:
        return self.contents[blob][: 16 << 20]


@pytest.fixture
def change():
    """Make a difference of `path=(old, new)` pairs; None stands for no file."""

    def make(*files, old_mode="100644", new_mode="100644"):
        store, entries = Store(), []
        for path, old, new in files:
            before = NONE if old is None else (old_mode, store.add(old))
            after = NONE if new is None else (new_mode, store.add(new))
            status = "A" if old is None else "D" if new is None else "M"
            entries.append(Entry(status, before[0], after[0], before[1], after[1], path))
        return Difference(tuple(entries), store)

    return make
