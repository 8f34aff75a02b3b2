"""Images with a repository in them: set-up once for its inputs, one layer more for each commit."""

import contextlib
import hashlib
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound
from docker.models.images import Image

from containers import BUILD
from sandbox import scratch
from sandbox.disk import says_full
from sandbox.engine import Engine
from sandbox.errors import DiskFullError, ImageError, SandboxError, SetupError
from sandbox.hardening import TOOLBOX
from sandbox.neighbour import Neighbour
from sandbox.preparation import Layer, Recipe, build, extend
from sandbox.source import Source, end_of
from sandbox.stream import Line
from sandbox.toolbox import INSIDE

BASE_IMAGE = "orchestrator/base:1"
OURS = "orchestrator/"
"""Never pulled: in a public registry this name could be anybody's."""
PREPARED = "orchestrator/prepared"
"""Images of one commit each."""
SETUP = "orchestrator/setup"
"""Those of them that others are built upon."""
TIME_LIMIT = 1800.0
"""Seconds for one set-up command."""

PROGRAMS = (
    *("prepare.py", "repository.py", "authorities.py", "index.py", "survey.py", "status.py"),
    "modules.py",
)
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
    reused: bool = False
    """Set-up did not run: what it left at another commit holds for this one."""
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
    neighbours: Sequence[Neighbour] = (),
    reach: str = "",
    on_line: Callable[[Line], None] | None = None,
    seconds: float = TIME_LIMIT,
    owner: str = "",
) -> Prepared:
    """The image with the repository at its base commit and `setup` done, built at first use.

    Set-up commands run as root in /workspace, each for at most `seconds`. They reach their
    `neighbours` and nothing else; `reach` says what can be reached through those, and decides with
    all else whether an image is the one that is wanted. `owner` is noted on an image that is
    built, see `stock.stored`. Raises ImageError, SetupError, DiskFullError; what was begun is
    removed then.
    """
    began = time.monotonic()
    with _disk_full_named():
        base = _base(engine, image)
        recipe = Recipe(
            str(base.id),
            source,
            setup,
            reach,
            _authorities(),
            seconds,
            owner,
            neighbours=tuple(neighbours),
        )
        made = _made(engine, recipe, on_line or (lambda _: None))
    took = time.monotonic() - began
    layer = made.layer
    return Prepared(layer.image, made.cached, took, made.reused, layer.left, layer.restored)


@dataclass(frozen=True, slots=True)
class _Made:
    layer: Layer
    cached: bool = False
    reused: bool = False


def _made(engine: Engine, recipe: Recipe, on_line: Callable[[Line], None]) -> _Made:
    """Find the image or build it, as far as can be upon a set-up that is done."""
    own, ground = f"{PREPARED}:{_key(recipe)}", f"{SETUP}:{_ground(recipe)}"
    if found := _found(engine, own):
        return _Made(found, cached=True)
    with _turn(ground):
        if found := _found(engine, own):
            return _Made(found, cached=True)
        below = _found(engine, ground)
        if below is None:
            below = build(engine, recipe, ground, on_line)
            _name(engine, below.image, own)
            return _Made(below)
        return _Made(extend(engine, recipe, below, own), reused=bool(recipe.setup))


def _key(recipe: Recipe) -> str:
    """Everything that decides what is in the image."""
    source = recipe.source
    given = (source.commit, source.tree, end_of(source.given.shallow))
    return _digest(_surroundings(recipe), given, _inputs(recipe))


def _ground(recipe: Recipe) -> str:
    """What two commits must have in common for one to be built upon the set-up of the other."""
    lineage = recipe.source.lineage or recipe.source.commit
    return _digest(_surroundings(recipe), lineage, _inputs(recipe))


def _inputs(recipe: Recipe) -> str:
    """The files set-up goes by; where nobody can tell which they are, all of them."""
    return (recipe.source.inputs or recipe.source.tree) if recipe.setup else ""


def _surroundings(recipe: Recipe) -> tuple[object, ...]:
    programs = [(INSIDE / name).read_text() for name in PROGRAMS]
    links = [(link.path, link.commit) for link in recipe.source.submodules]
    return (programs, recipe.base, recipe.setup, recipe.reach, recipe.authorities, links)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _name(engine: Engine, image: str, name: str) -> None:
    repository, _, tag = name.partition(":")
    engine.client.api.tag(image, repository, tag)


def _found(engine: Engine, name: str) -> Layer | None:
    """A prepared image, now used once more: its own name given again notes the time."""
    try:
        image = engine.client.images.get(name)
        _name(engine, name, name)
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


@dataclass(frozen=True, slots=True)
class Authorities:
    """The certificate authorities this host trusts: a company's own are among them."""

    place: str
    """The file they stand in; empty when there is none."""
    text: str
    """PEM; empty when there is none."""


def _authorities() -> str:
    return authorities().text


def authorities() -> Authorities:
    """Find the host's bundle."""
    named = ssl.get_default_verify_paths().cafile
    for place in (named, *AUTHORITIES):
        if place and os.path.isfile(place):
            return Authorities(place, Path(place).read_text(encoding="utf-8", errors="replace"))
    return Authorities("", "")


@contextlib.contextmanager
def _turn(key: str) -> Iterator[None]:
    """One process at a time prepares an image. Without the lock the work would be done twice."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(scratch.turn(key[-16:]))
        yield


@contextlib.contextmanager
def _disk_full_named() -> Iterator[None]:
    try:
        yield
    except SetupError:  # what a command says of a full disk may be about /tmp
        raise
    except (DockerException, SandboxError) as error:
        if not says_full(str(error)):
            raise
        raise DiskFullError(
            "The Docker Engine's disk is full: free some space there (`docker system df` shows "
            f"what uses it) and try again. ({error})"
        ) from error
