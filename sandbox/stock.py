"""What of ours is on the engine: images, and which prepared ones nobody needs any more."""

from datetime import datetime
from http import HTTPStatus

from docker.errors import APIError, ImageNotFound

from sandbox.engine import Engine
from sandbox.images import PREPARED
from sandbox.preparation import LABEL


def present(engine: Engine, image: str) -> bool:
    """Whether the engine has an image of this name."""
    try:
        engine.client.images.get(image)
    except ImageNotFound:
        return False
    return True


def old_images(engine: Engine, before: float) -> tuple[str, ...]:
    """The prepared images that were made before a Unix time, in seconds.

    By their names; by its id what a preparation left that was killed before it gave a name.
    """
    images = engine.client.images
    unborn = images.list(filters={"dangling": True, "label": LABEL})
    names: list[str] = []
    for image in (*images.list(PREPARED), *unborn):
        if datetime.fromisoformat(image.attrs["Created"]).timestamp() < before:
            ours = [tag for tag in image.tags if tag.startswith(f"{PREPARED}:")]
            names += ours if image.tags else [str(image.id)]
    return tuple(sorted(names))


def remove(engine: Engine, image: str) -> bool:
    """Remove an image; False when a container uses it, or somebody removed it before."""
    try:
        engine.client.images.remove(image)
    except ImageNotFound:
        return False
    except APIError as error:
        if error.status_code == HTTPStatus.CONFLICT:
            return False
        raise
    return True
