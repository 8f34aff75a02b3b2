"""Prepared images that a session of tests made, and that nobody else can need, go at its end.

Most hold a commit that no other session will ever make: they would stay until somebody's `gc`.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from docker.errors import NotFound

from orchestrator.events import Prepared
from orchestrator.journal import read
from orchestrator.preparation import owner
from sandbox import Engine
from sandbox.stock import Stored, remove, spare, stored

ONCE = 5.0
"""Seconds from the making of an image in which it gets its names, where no journal of ours tells
when a run was given it. Who is given one that is there already names it again: of whatever was
named later there are several users, perhaps of another session at this very moment, and for the
next session it is ready."""
STILL = 30.0
"""Seconds in which a run of another session that was given an image has opened its sandboxes."""


def remove_images(engine: Engine, folder: Path, *, once: float = ONCE, still: float = STILL) -> int:
    """Remove the images of homes below this folder that were asked for once; returns how many."""
    below = f"{owner(folder)}/"
    found = stored(engine, lambda whose: not whose.startswith(below))
    given = _given(folder) if found else {}
    kept = {
        image.id
        for image in found
        if _asked_for_again(engine, image, given.get(image.id, ()), once)
    }
    old = spare(found, lambda image: image.id in kept, before=time.time() - still)
    return sum(remove(engine, image) for image in old)


def _given(folder: Path) -> dict[str, Sequence[float]]:
    """When runs below the folder were given an image, in Unix seconds: after it was named."""
    told: dict[str, Sequence[float]] = {}
    for path in folder.rglob("runs/*/journal.jsonl"):
        for entry in read(path):
            if isinstance(entry.event, Prepared):
                told[entry.event.image] = (*told.get(entry.event.image, ()), entry.time)
    return told


def _asked_for_again(engine: Engine, image: Stored, given: Sequence[float], once: float) -> bool:
    if given:
        return len(given) > 1 or image.used > given[0]
    with suppress(NotFound):  # others remove images, too
        made = engine.client.images.get(image.id).attrs["Created"]
        return image.used > datetime.fromisoformat(made).timestamp() + once
    return False
