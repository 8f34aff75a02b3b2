"""Images of ours on the engine: how large, when last used, and which nobody needs any more."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from math import inf

from docker.errors import APIError, ImageNotFound, NotFound
from docker.models.images import Image

from sandbox.engine import Engine
from sandbox.images import OURS, PREPARED, SETUP
from sandbox.preparation import LABEL

LEFT = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
"""What the engine answers for an image that is gone, and for one in use."""
OWN_LAYERS = 2
"""Of a prepared image, over what it was prepared from: its files, and what git knows of them."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A prepared image on the engine."""

    id: str
    names: tuple[str, ...]
    """Ours; none while it is being prepared, and when that was killed."""
    size: int
    """Bytes that it takes beside those of the image it was prepared from."""
    used: float
    """When it was last asked for, in Unix seconds."""
    owner: str
    """Whom it was prepared for; empty when nobody was named."""
    over: str = ""
    """Id of the prepared image whose set-up it stands on."""
    busy: bool = False
    """A container uses it, running or not, or an image stands on it that is left out here."""
    commit: str = ""
    """Of the repository, whose files it holds; empty when that was not noted."""

    @property
    def name(self) -> str:
        return self.names[0] if self.names else self.id


def present(engine: Engine, image: str) -> bool:
    """Whether the engine has an image of this name."""
    try:
        engine.client.images.get(image)
    except ImageNotFound:
        return False
    return True


def others(engine: Engine, image: str, before: float = inf) -> tuple[str, ...]:
    """What the engine has of an image in other versions, named before a moment in Unix seconds."""
    repository = image.rpartition(":")[0]
    found: dict[str, Image] = {}
    for listed in engine.client.api.images(repository):
        with suppress(NotFound):  # others remove images, too
            found |= dict.fromkeys(listed["RepoTags"] or (), engine.client.images.get(listed["Id"]))
    return tuple(
        sorted(
            name
            for name, each in found.items()
            if name.rpartition(":")[0] == repository and name != image and _used(each) < before
        )
    )


def forget(engine: Engine, name: str) -> bool:
    """Remove an image under one name; False when it is in use, or gone."""
    try:
        engine.client.images.remove(name)
    except APIError as error:
        if error.status_code in LEFT or not present(engine, name):
            return False
        raise
    return True


def built(engine: Engine) -> tuple[str, ...]:
    """Our images by their names, but for the prepared ones: what was built or fetched once."""
    names = [name for each in engine.client.api.images() for name in each["RepoTags"] or ()]
    return tuple(sorted(name for name in names if name.startswith(OURS) and not _is_prepared(name)))


def stored(
    engine: Engine, is_anothers: Callable[[str], bool] = lambda owner: False
) -> tuple[Stored, ...]:
    """Every prepared image but those of other owners, the least recently used first.

    Those are not looked at one by one, which takes the engine some ten milliseconds each.
    """
    api = engine.client.api
    unborn = api.images(filters={"dangling": True, "label": LABEL})
    listed = (*api.images(PREPARED), *api.images(SETUP), *unborn)  # some of them twice
    told = {each["Id"]: json.loads((each["Labels"] or {}).get(LABEL, "{}")) for each in listed}
    others = {image for image, facts in told.items() if is_anothers(facts.get("owner", ""))}
    busy = _busy(engine) | {told[image].get("over", "") for image in others}
    found = []
    for image in told:
        with suppress(NotFound):  # others remove images, too
            if image not in others:
                found.append(_stored(engine.client.images.get(image), busy))
    return tuple(sorted(found, key=lambda each: each.used))


def _stored(image: Image, busy: frozenset[str]) -> Stored:
    told = json.loads(image.labels.get(LABEL, "{}"))
    return Stored(
        id=str(image.id),
        names=tuple(sorted(tag for tag in image.tags if _is_prepared(tag))),
        size=sum(layer["Size"] for layer in image.history()[:OWN_LAYERS]),
        used=_used(image),
        owner=told.get("owner", ""),
        over=told.get("over", ""),
        busy=image.id in busy,
        commit=told.get("commit", ""),
    )


def _is_prepared(tag: str) -> bool:
    return tag.rpartition(":")[0] in (PREPARED, SETUP)


def _used(image: Image) -> float:
    """Its name is given to it again at each use, and the engine notes when."""
    named = datetime.fromisoformat(
        image.attrs.get("Metadata", {}).get("LastTagTime") or "0001-01-01"
    )
    created = datetime.fromisoformat(image.attrs["Created"])
    return named.timestamp() if named.year > 1 else created.timestamp()


def _busy(engine: Engine) -> frozenset[str]:
    return frozenset(each["ImageID"] for each in engine.client.api.containers(all=True))


def spare(
    images: tuple[Stored, ...],
    keep: Callable[[Stored], bool],
    *,
    before: float | None = None,
    space: int | None = None,
) -> Iterator[Stored]:
    """Which images may go, the least recently used first, and what stands on one before it.

    Those not used since `before`, in Unix seconds, and as many as it takes for all that are not
    kept to fit into `space` bytes. Never one that is kept, in use, or under another that stays.
    """
    left = {image.id: image for image in images}
    room = sum(image.size for image in images if not keep(image))
    while True:
        below = {image.over for image in left.values()}
        free = [each for each in left.values() if not (each.busy or keep(each) or each.id in below)]
        oldest = min(free, key=lambda each: each.used, default=None)
        if oldest is None:
            return
        aged = before is not None and oldest.used < before
        if not aged and (space is None or room <= space):
            return
        del left[oldest.id]
        room -= oldest.size
        yield oldest


def remove(engine: Engine, image: Stored) -> bool:
    """Remove an image under all its names; False when it is in use, or was used since it was seen.

    Names that others gave it stay, and what they name.
    """
    try:
        now = engine.client.images.get(image.id)
        if now.id in _busy(engine) or _used(now) != image.used:
            return False
        for name in image.names or (image.id,):
            engine.client.images.remove(name)
    except APIError as error:
        # Of an image that others remove at this moment an engine says several things.
        if error.status_code in LEFT or not present(engine, image.id):
            return False
        raise
    return True
