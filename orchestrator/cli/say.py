"""What the verbs print: lines for people, JSON for programs."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, TextIO

import click
import msgspec

from orchestrator.record import Record
from orchestrator.screen import Ink, without_commands

LATE = 2.0
"""Seconds after which silence makes a person wonder."""


def ink(stream: TextIO) -> Ink:
    """Colours for a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return Ink(stream.isatty() and not os.environ.get("NO_COLOR"))


def obeyed() -> bool:
    """Whether what is printed is read by GitHub Actions, which takes some lines for commands."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def out(lines: Iterable[str]) -> None:
    """Lines for people, on stdout."""
    for line in lines:
        click.echo(without_commands(line) if obeyed() else line)


def note(text: str) -> None:
    """A line beside the result, on stderr."""
    click.echo(text, err=True)


@contextmanager
def late(text: str) -> Iterator[None]:
    """Say on stderr what is being done here, once that takes long."""
    timer = Timer(LATE, note, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def json(value: object) -> None:
    """One JSON document, on stdout."""
    content = msgspec.json.format(msgspec.json.encode(value), indent=2)
    click.echo(content.decode("utf-8"))


def json_line(value: object) -> None:
    """One JSON object on a line of its own, on stdout at once."""
    click.echo(msgspec.json.encode(value).decode("utf-8"))


def as_object(record: Record) -> dict[str, Any]:
    """A record as JSON has it: with the state as it is now, and the exit code."""
    value: dict[str, Any] = msgspec.to_builtins(record)
    value["state"] = record.shown_state
    value["approved"] = record.approved
    value["exit_code"] = record.exit_code
    return value


def stderr_ink() -> Ink:
    return ink(sys.stderr)


def stdout_ink() -> Ink:
    return ink(sys.stdout)
