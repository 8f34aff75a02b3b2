"""`orchestrator doctor`: what this machine still needs."""

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from containers import BUILD
from orchestrator.cli import choice, place, say
from orchestrator.cli.options import as_json, common
from orchestrator.errors import RepositoryError
from orchestrator.git import program
from orchestrator.screen import columns
from sandbox import Engine, connect
from sandbox.errors import EngineError
from sandbox.images import BASE_IMAGE
from sandbox.stock import present
from sandbox.toolbox import IMAGE as TOOLBOX_IMAGE

ROOM = 2 << 30
"""Bytes below which a run soon ends for want of disk."""


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    """What is there, or what to type."""
    needed: bool = True
    """False where runs of some kind work without it."""


@click.command("doctor")
@as_json
@common
def command(as_json: bool) -> int:
    """Say what this machine still needs; exit 1 when something is missing."""
    found = tuple(examine())
    missing = sum(not each.ok for each in found if each.needed)
    if as_json:
        say.json([asdict(each) for each in found])
    else:
        say.out(columns([(_word(each), each.name, each.found) for each in found]))
        say.out([_conclusion(missing)])
    return 1 if missing else 0


def _conclusion(missing: int) -> str:
    if not missing:
        return "Ready."
    return "1 thing is missing." if missing == 1 else f"{missing} things are missing."


def _word(each: Examined) -> str:
    if each.ok:
        return "ok"
    return "missing" if each.needed else "none"


def examine() -> Iterator[Examined]:
    """Look at everything a run needs."""
    yield _git()
    yield from _engine()
    home = place.home()
    yield _home(home)
    yield _disk(home)
    yield _keys()
    yield Examined("system", True, f"{platform.platform()}, Python {platform.python_version()}")


def _git() -> Examined:
    try:
        return Examined("git", True, program())
    except RepositoryError as error:
        return Examined("git", False, str(error))


def _engine() -> Iterator[Examined]:
    try:
        with closing(connect()) as engine:
            about = f"Docker Engine {engine.version}, {engine.architecture}"
            yield Examined("engine", True, about)
            yield _image(engine, "base image", BASE_IMAGE)
            yield _image(engine, "toolbox", TOOLBOX_IMAGE)
    except EngineError as error:
        yield Examined("engine", False, str(error))


def _image(engine: Engine, name: str, image: str) -> Examined:
    if present(engine, image):
        return Examined(name, True, image)
    return Examined(name, False, f"{image} is not on the engine: run `sh {BUILD}`")


def _home(home: Path) -> Examined:
    existing = _existing(home)
    if os.access(existing, os.W_OK | os.X_OK):
        return Examined("home", True, str(home))
    return Examined("home", False, f"{existing} is not writable: name another with --home")


def _disk(home: Path) -> Examined:
    free = shutil.disk_usage(_existing(home)).free
    text = f"{free / (1 << 30):.1f} GiB free at {home}"
    return Examined("disk", free >= ROOM, text if free >= ROOM else f"only {text}: free some space")


def _existing(path: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def _keys() -> Examined:
    found = choice.keys(os.environ)
    if found:
        return Examined("keys", True, ", ".join(found), needed=False)
    names = " or ".join(choice.DEFAULTS)
    advice = f"no key of a model: set {names}; commands, scripts and ollama need none"
    return Examined("keys", False, advice, needed=False)
