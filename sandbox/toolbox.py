"""Git, Python and our own programs, mounted read-only at one place in every container.

A container created from the toolbox image fills a volume: the engine copies the image's files into
it. Started once, it compiles our own programs with the Python that will run them. It then takes the
toolbox's own name. Names are unique and renaming is atomic, so it stands for "this volume is
complete", keeps it from being pruned, and of two processes that fill one at the same time only the
first to finish gets it.
"""

import hashlib
import io
import secrets
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

from docker.errors import APIError, ImageNotFound, NotFound
from docker.models.containers import Container
from docker.types import Mount
from requests.exceptions import RequestException

from containers import BUILD
from sandbox.engine import Engine
from sandbox.errors import ImageError
from sandbox.kit import Kit
from sandbox.owner import MAKER, Owner

IMAGE = "orchestrator/toolbox:1"
PLACE = "/opt/orchestrator"
TOOLBOX = Kit(IMAGE, PLACE, f"sh {BUILD}")
INSIDE = Path(__file__).with_name("inside")
LABEL = "orchestrator.toolbox"
COMPILE = (
    f"{PLACE}/bin/python",
    *("-E", "-s", "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
    f"{PLACE}/inside",
)
"""What is mounted read-only can keep no byte code: without it, each start would compile anew, which
is a third of what the server of a sandbox needs to start."""
COMPILING = 60.0
"""Seconds that it may take; it needs one."""
ATTEMPTS = 5
"""Times that a toolbox is filled where another one is first each time."""


def volume(engine: Engine) -> str:
    """The volume to mount read-only at `PLACE`; filled now if it is the first time.

    Raises ImageError when the toolbox image is missing.
    """
    return filled(engine, _programs())


def _programs() -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in INSIDE.glob("*.py")}


def filled(engine: Engine, programs: Mapping[str, bytes], kit: Kit = TOOLBOX) -> str:
    """The volume with exactly these programs in the kit's `inside`; others make another volume.

    Raises ImageError when the kit's image is missing, or the engine keeps its name from us.
    """
    image = image_id(engine, kit)
    name = _name(image, programs)
    for _ in range(ATTEMPTS):  # whoever was first may have removed its own before we look
        volume = _complete(engine, name) or _fill(engine, name, image, programs, kit.place)
        if volume:
            return volume
    raise ImageError(
        f"The toolbox cannot be filled: the Docker Engine has no container {name}, and says that"
        " the name is taken. Restart the engine."
    )


def old(engine: Engine, before: float, kits: Iterable[Kit] = ()) -> tuple[str, ...]:
    """Toolboxes of other versions, filled before a Unix time in seconds, that no sandbox uses.

    What is filled with one of `kits` as it is now is of this version, too.
    """
    current = {_name(image_id(engine), _programs())}
    for kit in kits:
        with suppress(ImageError):
            current.add(_name(image_id(engine, kit), {}))
    found = _containers(engine, "label", LABEL)
    return tuple(
        sorted(
            str(each.name)
            for each in found
            if each.labels[LABEL] not in current
            and _created(each) < before
            and _unused(engine, each)
        )
    )


def spare(engine: Engine) -> tuple[str, ...]:
    """All complete toolboxes that no sandbox uses, those of this version, too."""
    found = _containers(engine, "label", LABEL)
    complete = [each for each in found if each.name == each.labels[LABEL]]
    return tuple(sorted(str(each.name) for each in complete if _unused(engine, each)))


def _created(container: Container) -> float:
    return datetime.fromisoformat(container.attrs["Created"]).timestamp()


def _unused(engine: Engine, container: Container) -> bool:
    users = _containers(engine, "volume", _volume_of(container))
    return [user.id for user in users] == [container.id]


def _containers(engine: Engine, key: str, value: str) -> list[Container]:
    """Running or not; others remove theirs while this looks."""
    found: list[Container] = engine.client.containers.list(
        all=True, filters={key: value}, ignore_removed=True
    )
    return found


def remove(engine: Engine, name: str) -> bool:
    """Remove a toolbox; False when somebody removed it before, or began to use it meanwhile."""
    try:
        container = engine.client.containers.get(name)
        _discard(engine, container, _volume_of(container))
    except APIError as error:
        if error.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            return False
        raise
    return True


def unfinished(engine: Engine) -> dict[str, str]:
    """Toolboxes that are being filled, or were when their maker died: their names and makers."""
    api = engine.client.api
    volumes = api.volumes(filters={"label": LABEL, "dangling": "true"})["Volumes"] or ()
    containers = api.containers(all=True, filters={"label": LABEL})
    found = {item["Name"]: item["Labels"] for item in volumes}
    found |= {item["Names"][0].removeprefix("/"): item["Labels"] for item in containers}
    return {name: labels.get(MAKER, "") for name, labels in found.items() if name != labels[LABEL]}


def discard(engine: Engine, name: str) -> None:
    """Remove an unfinished toolbox, as far as it had come."""
    with suppress(NotFound):
        engine.client.api.remove_container(name, force=True)
    with suppress(NotFound):
        engine.client.api.remove_volume(name)


def image_id(engine: Engine, kit: Kit = TOOLBOX) -> str:
    """The id of a kit's image. Raises ImageError when it is missing."""
    try:
        image = engine.client.images.get(kit.image)
    except ImageNotFound as error:
        missing = f"The image {kit.image} is missing: run `{kit.recipe}` to build it."
        raise ImageError(missing) from error
    return str(image.id)


def _name(image: str, programs: Mapping[str, bytes]) -> str:
    return f"orchestrator-toolbox-{_digest(image, programs)}"


def _digest(image: str, programs: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(image.encode())
    if programs:
        digest.update(" ".join(COMPILE).encode())
    for name, source in sorted(programs.items()):
        digest.update(b"%s\0%d\0%s" % (name.encode(), len(source), source))
    return digest.hexdigest()[:16]


def _complete(engine: Engine, name: str) -> str | None:
    try:
        container = engine.client.containers.get(name)
    except NotFound:
        return None
    return _volume_of(container)


def _volume_of(container: Container) -> str:
    return str(container.attrs["Mounts"][0]["Name"])


def _fill(
    engine: Engine, name: str, image: str, programs: Mapping[str, bytes], place: str
) -> str | None:
    """The volume, filled; None when somebody else was first."""
    own = f"{name}-{secrets.token_hex(4)}"
    labels = {LABEL: name, MAKER: Owner.of_this_process().text}
    engine.client.volumes.create(own, labels=labels)
    container = engine.client.containers.create(
        image,
        list(COMPILE) if programs else None,
        name=own,
        labels=labels,
        user="0:0",
        network_mode="none",
        cap_drop=["ALL"],
        runtime=engine.runtime or None,
        mounts=[Mount(place, own)],
    )
    try:
        if programs:
            container.put_archive(place, _archive(programs))
            _compile(container)
        container.rename(name)
    except BaseException as error:
        _discard(engine, container, own)
        if isinstance(error, APIError) and error.status_code == HTTPStatus.CONFLICT:
            return None
        raise
    return own


def _compile(container: Container) -> None:
    """Have the container's command carried out. Raises ImageError."""
    try:
        container.start()
        status = container.wait(timeout=COMPILING)["StatusCode"]
    except (APIError, RequestException) as error:
        raise ImageError(f"The toolbox cannot be filled: {error}") from error
    if status:
        raise ImageError(f"The toolbox cannot be filled: its Python ended with status {status}.")


def _discard(engine: Engine, container: Container, own: str) -> None:
    container.remove(force=True)
    engine.client.volumes.get(own).remove()


def _archive(programs: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        folder = tarfile.TarInfo("inside")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        for name, source in sorted(programs.items()):
            member = tarfile.TarInfo(f"inside/{name}")
            member.size, member.mode = len(source), 0o644
            archive.addfile(member, io.BytesIO(source))
    return out.getvalue()
