"""What dead runs left behind on the engine, and how it goes.

Whatever a process creates there names it. It goes when that process is known to be dead; what
cannot be judged from here, of another user or machine, goes a day after its own time limit.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from docker.errors import DockerException, NotFound
from requests.exceptions import RequestException

from sandbox import container, scratch, toolbox
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.owner import APP, MAKER, Owner
from sandbox.preparation import LABEL as PREPARED

Kind = Literal["container", "network", "volume", "toolbox", "image", "file"]

GRACE = 86_400
"""Seconds past its time limit, for clocks that differ, after which nobody can need a container."""

ENDED = ("created", "exited", "dead")
GONE_WITH = "container:"
"""How a container says whose network namespace it shares."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """Something whose owner is dead."""

    kind: Kind
    name: str


def sweep(engine: Engine) -> tuple[Orphan, ...]:
    """Remove what dead owners left on the engine and in the temporary folder; what is gone now.

    Nothing of a live owner is touched, whatever its age. What cannot be removed stays, for the
    next time: a leftover must not stop a run.
    """
    return tuple(orphan for orphan in orphans(engine) if _removed(engine, orphan))


def orphans(engine: Engine) -> tuple[Orphan, ...]:
    """What `sweep` would remove, in that order: a network or an image goes after its containers."""
    kinds = (_containers, _toolboxes, _networks, _volumes, _images)
    found = [orphan for kind in kinds for orphan in _listed(engine, kind)]
    return (*found, *(Orphan("file", str(path)) for path in scratch.left()))


def _listed(engine: Engine, kind: Callable[[Engine], Iterator[Orphan]]) -> tuple[Orphan, ...]:
    """None where the engine refuses: its lists fail when what is on them goes meanwhile."""
    try:
        return tuple(kind(engine))
    except (DockerException, RequestException):
        return ()


def _containers(engine: Engine) -> Iterator[Orphan]:
    api = engine.client.api
    for item in api.containers(all=True, filters={"label": f"app={APP}"}):
        name, labels = item["Names"][0].removeprefix("/"), item["Labels"]
        owner = Owner.read(labels)
        # An image that somebody made of a container of ours has its labels, but not its name.
        if owner is None or labels.get(container.NAME) != name:
            continue
        if _over(owner, item) or _alone(engine, owner, item):
            yield Orphan("container", name)


def _over(owner: Owner, item: Mapping[str, Any]) -> bool:
    """Whether the owner is dead, or past being asked."""
    match owner.fate():
        case "dead":
            return True
        case "unknown":
            return item["State"] in ENDED and _past(item["Labels"].get("deadline", ""))
        case _:
            return False


def _past(deadline: str) -> bool:
    return deadline.isdecimal() and int(deadline) + GRACE < time.time()


def _alone(engine: Engine, owner: Owner, item: Mapping[str, Any]) -> bool:
    """Whether the sandbox that this container stood beside was removed."""
    mode = item["HostConfig"].get("NetworkMode") or ""
    if owner.fate() == "unknown" or not mode.startswith(GONE_WITH):
        return False
    try:
        engine.client.api.inspect_container(mode.removeprefix(GONE_WITH))
    except NotFound:
        return True
    return False


def _toolboxes(engine: Engine) -> Iterator[Orphan]:
    for name, maker in toolbox.unfinished(engine).items():
        if _dead(Owner.parse(maker)):
            yield Orphan("toolbox", name)


def _networks(engine: Engine) -> Iterator[Orphan]:
    for item in engine.client.api.networks(filters={"label": f"app={APP}"}):
        if _dead(Owner.read(item["Labels"])):
            yield Orphan("network", item["Name"])


def _volumes(engine: Engine) -> Iterator[Orphan]:
    found = engine.client.api.volumes(filters={"label": f"app={APP}"})["Volumes"]
    for item in found or ():
        if _dead(Owner.read(item["Labels"])):
            yield Orphan("volume", item["Name"])


def _images(engine: Engine) -> Iterator[Orphan]:
    """What a preparation left that was killed before its image had a name."""
    for item in engine.client.api.images(filters={"dangling": True, "label": PREPARED}):
        if _dead(Owner.parse(item["Labels"].get(MAKER, ""))):
            yield Orphan("image", item["Id"])


def _dead(owner: Owner | None) -> bool:
    return owner is not None and owner.fate() == "dead"


def _removed(engine: Engine, orphan: Orphan) -> bool:
    try:
        _REMOVE[orphan.kind](engine, orphan.name)
    except (SandboxError, DockerException, RequestException, OSError):
        return False
    return True


def _remove_image(engine: Engine, name: str) -> None:
    engine.client.images.remove(name)


def _remove_network(engine: Engine, name: str) -> None:
    with suppress(NotFound):
        engine.client.api.remove_network(name)


def _remove_volume(engine: Engine, name: str) -> None:
    with suppress(NotFound):
        engine.client.api.remove_volume(name)


def _remove_container(engine: Engine, name: str) -> None:
    container.remove(engine.client.api, name)


def _remove_file(engine: Engine, name: str) -> None:
    scratch.remove(name)


_REMOVE: Mapping[Kind, Callable[[Engine, str], None]] = {
    "container": _remove_container,
    "file": _remove_file,
    "image": _remove_image,
    "network": _remove_network,
    "toolbox": toolbox.discard,
    "volume": _remove_volume,
}
