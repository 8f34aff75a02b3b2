"""`orchestrator doctor`: what this machine still needs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict

import click

from orchestrator.cli import engine_looks, host_looks, place, say
from orchestrator.cli.examination import Examined, Look, examine
from orchestrator.cli.options import as_json, common
from sandbox import Engine, connect

SECONDS = 20.0
"""For one look; a container takes a moment to start."""
WIDTH = 13
"""Of the column of names."""


@click.command("doctor")
@click.option("--image", metavar="IMAGE", help="Also try this image, and list what is open in it.")
@click.option("--runtime", default="", metavar="NAME", help="Try this runtime of the engine.")
@as_json
@common
def command(image: str | None, runtime: str, as_json: bool) -> int:
    """Try what a run needs, and say what is missing and what to do; exit 1 when something is.

    The container in which it tries the sandbox is removed again.
    """
    found = []
    for each in _all(image, runtime, say.note if as_json else _silent):
        found.append(each)
        if not as_json:
            say.out(_lines(each))
    missing = sum(not each.ok for each in found if each.needed)
    if as_json:
        say.json([asdict(each) for each in found])
    else:
        say.out([_conclusion(missing)])
    return 1 if missing else 0


def _all(image: str | None, runtime: str, tell: Callable[[str], None]) -> Iterator[Examined]:
    with ExitStack() as stack:
        for name, look in _looks(stack, image, runtime):
            tell(f"looking at: {name}")
            yield from examine(name, look, SECONDS)


def _looks(stack: ExitStack, image: str | None, runtime: str) -> Iterator[tuple[str, Look]]:
    engines: list[Engine] = []

    def reach() -> Iterator[Examined]:
        engine = connect(runtime)
        engines.append(engine)
        stack.callback(engine.close)
        yield engine_looks.about(engine)

    yield "git", host_looks.git
    yield "engine", reach
    for engine in engines:
        yield from engine_looks.looks(engine, image)
    yield from host_looks.looks(place.home())


def _silent(text: str) -> None:
    """The findings themselves show how far it is."""


def _lines(each: Examined) -> list[str]:
    word = "ok" if each.ok else "missing" if each.needed else "none"
    fix = [f"{'':<{WIDTH + 9}}{each.fix}"] if each.fix else []
    return [f"{word:<7}  {each.name:<{WIDTH}}{each.found}", *fix]


def _conclusion(missing: int) -> str:
    if not missing:
        return "Ready."
    return "1 thing is missing." if missing == 1 else f"{missing} things are missing."
