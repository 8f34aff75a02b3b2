"""Options that all verbs have; they act on the process: its folder, and ORCHESTRATOR_HOME."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

HOME = "ORCHESTRATOR_HOME"
"""The variable that names the folder where runs are kept."""

F = TypeVar("F", bound=Callable[..., Any])


class Whole(click.IntRange):
    """A whole number within bounds, called so where it is none."""

    name = "whole number"


class Number(click.FloatRange):
    """The same for any number."""

    name = "number"


def common(function: F) -> F:
    """Give a verb -C and --home."""
    directory = click.option(
        "-C",
        "directory",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        callback=_go,
        is_eager=True,  # so that the other paths are relative to it, as with git
        expose_value=False,
        help="Run as if started in DIR.",
    )
    home = click.option(
        "--home",
        metavar="DIR",
        type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
        callback=_settle,
        expose_value=False,
        help="Where runs are kept; ORCHESTRATOR_HOME says the same.",
    )
    return directory(home(function))


def _go(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        os.chdir(value)


def _settle(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None:
        os.environ[HOME] = str(value)


run_argument = click.argument("run", required=False, metavar="[RUN]")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON; see docs/json.md.")
