"""Images with a repository in them: prepared once per base commit, then started like any other."""

import contextlib
import hashlib
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound
from docker.models.images import Image

from containers import BUILD
from sandbox import scratch
from sandbox.engine import Engine
from sandbox.errors import DiskFullError, ImageError, SandboxError, SetupError
from sandbox.hardening import TOOLBOX
from sandbox.preparation import Layer, Recipe, Source, build
from sandbox.stream import Line
from sandbox.toolbox import INSIDE

BASE_IMAGE = "orchestrator/base:1"
OURS = "orchestrator/"
"""Never pulled: in a public registry this name could be anybody's."""
PREPARED = "orchestrator/prepared"
TIME_LIMIT = 1800.0
"""Seconds for one set-up command."""

PROGRAMS = ("prepare.py", "authorities.py", "index.py", "survey.py")
"""They make the layer: another version of them makes another image."""
AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS
)
OWN_FOLDERS = tuple(
    map(PurePosixPath, ("/workspace", "/home/agent", "/var/lib/orchestrator", TOOLBOX))
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An image from which work starts at once."""

    image: str
    """Its id, so that nobody's new tag can change what runs."""
    cached: bool
    seconds: float
    left: tuple[str, ...] = ()
    """Untracked paths that set-up left; they are not the worker's. At most 1,000 are told."""
    restored: tuple[str, ...] = ()
    """Tracked paths that set-up had altered and that were put back."""


def prepare(
    engine: Engine,
    image: str,
    source: Source,
    *,
    setup: tuple[str, ...] = (),
    network: bool = False,
    on_line: Callable[[Line], None] | None = None,
    seconds: float = TIME_LIMIT,
) -> Prepared:
    """The image with the repository at its base commit and `setup` done, built at first use.

    Set-up commands run as root in /workspace, each for at most `seconds`, without network unless
    `network`. Raises ImageError, SetupError, DiskFullError; what was begun is removed then.
    """
    began = time.monotonic()
    with _disk_full_named():
        base = _base(engine, image)
        recipe = Recipe(str(base.id), source, setup, network, _authorities(), seconds)
        key = _key(recipe)
        with _turn(key):
            found = _cached(engine, key)
            layer = found or build(engine, recipe, f"{PREPARED}:{key}", on_line or (lambda _: None))
    took = time.monotonic() - began
    return Prepared(layer.image, found is not None, took, layer.left, layer.restored)


def _key(recipe: Recipe) -> str:
    """Everything that decides what is in the image."""
    programs = [(INSIDE / name).read_text() for name in PROGRAMS]
    source = recipe.source
    parts = [programs, recipe.base, source.commit, source.tree, recipe.setup, recipe.network]
    return hashlib.sha256(json.dumps([*parts, recipe.authorities]).encode()).hexdigest()


def _cached(engine: Engine, key: str) -> Layer | None:
    try:
        image = engine.client.images.get(f"{PREPARED}:{key}")
    except ImageNotFound:
        return None
    return Layer.of(image)


def _base(engine: Engine, name: str) -> Image:
    try:
        image = engine.client.images.get(name)
    except ImageNotFound:
        image = _pull(engine, name)
    except APIError as error:
        raise ImageError(f"{name!r} is not the name of an image: {error.explanation}") from error
    _check(engine, name, image.attrs)
    return image


def available(engine: Engine, name: str) -> Image:
    """An image by its name, pulled when it is not there. Raises ImageError, DiskFullError."""
    with _disk_full_named():
        return _base(engine, name)


def _pull(engine: Engine, name: str) -> Image:
    if name.startswith(OURS):
        raise ImageError(
            f"The image {name} is missing: run `make images`, or `sh {BUILD}`, to build it."
        )
    try:
        return engine.client.images.pull(name)
    except DockerException as error:
        said = getattr(error, "explanation", None) or error
        raise ImageError(
            f"The image {name} is not on this machine and cannot be pulled ({said}): check its "
            "name, or build or load it first."
        ) from error


def _check(engine: Engine, name: str, facts: dict[str, Any]) -> None:
    if facts["Os"] != "linux" or facts["Architecture"] != engine.architecture:
        raise ImageError(
            f"The image {name} is for {facts['Os']}/{facts['Architecture']}, this Docker Engine "
            f"runs linux/{engine.architecture}: name an image made for that."
        )
    for volume in facts["Config"].get("Volumes") or ():
        place = PurePosixPath(volume)
        if any(own.is_relative_to(place) or place.is_relative_to(own) for own in OWN_FOLDERS):
            raise ImageError(
                f"The image {name} declares a volume at {volume}, which would hide what is put "
                "there: name another one."
            )


def _authorities() -> str:
    """The certificate authorities this host trusts: a company's own are among them."""
    named = ssl.get_default_verify_paths().cafile
    for place in (named, *AUTHORITIES):
        if place and os.path.isfile(place):
            return Path(place).read_text(encoding="utf-8", errors="replace")
    return ""


@contextlib.contextmanager
def _turn(key: str) -> Iterator[None]:
    """One process at a time prepares an image. Without the lock the work would be done twice."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(scratch.turn(key[:16]))
        yield


@contextlib.contextmanager
def _disk_full_named() -> Iterator[None]:
    try:
        yield
    except SetupError:  # what a command says of a full disk may be about /tmp
        raise
    except (DockerException, SandboxError) as error:
        if "no space left on device" not in str(error).lower():
            raise
        raise DiskFullError(
            "The Docker Engine's disk is full: free some space there (`docker system df` shows "
            f"what uses it) and try again. ({error})"
        ) from error
