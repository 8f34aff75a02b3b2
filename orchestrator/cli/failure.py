"""How every error ends: one sentence for a person, one exit code for a script."""

import errno
import os
import platform
import re
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from orchestrator.cli import place, unknown
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.screen import clean, clean_lines
from sandbox.errors import NoRuntimeError, SandboxError, SetupError

CANCELLED = 130


@dataclass(frozen=True, slots=True)
class Failure:
    """What is printed and returned; nothing is printed without a sentence."""

    code: int
    sentence: str = ""
    output: str = ""
    """What a failed set-up command printed."""


def end(error: BaseException, arguments: Sequence[str]) -> int:
    """Tell a person what went wrong and return the exit code."""
    failure = described(error) or _unexpected(error, arguments)
    if isinstance(error, BrokenPipeError):
        _close_stdout()
    for line in clean_lines(failure.output) if failure.output else ():
        click.echo(f"  {line}", err=True)
    if failure.sentence:
        click.echo(f"error: {failure.sentence}", err=True)
    return failure.code


def described(error: BaseException) -> Failure | None:
    """What an error means; None for one that nobody expected."""
    match error:
        case SystemExit(code=code):
            return Failure(code if isinstance(code, int) else 1)
        case KeyboardInterrupt() | click.Abort():
            return Failure(CANCELLED, "Stopped.")
        case BrokenPipeError():  # whoever read went away: click ends with 1, and silently
            return Failure(1)
        case SetupError():
            return Failure(1, _sentence(error), error.output)
        case OrchestratorError():
            return Failure(error.exit_code, _sentence(error))
        case NoRuntimeError():
            return Failure(UsageError.exit_code, _sentence(error))
        case SandboxError():
            return Failure(1, _sentence(error))
        case click.ClickException():
            return Failure(error.exit_code, _usage(error))
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return Failure(1, f"The disk is full{_at(error)}: free some space and try again.")
        case PermissionError():
            return Failure(1, f"{error.strerror}{_at(error)}: see who may use it, or name another.")
        case OSError(errno=errno.EROFS):
            return Failure(1, f"{error.strerror}{_at(error)}: make it writable, or name another.")
    return None


def _sentence(error: Exception) -> str:
    return " ".join(clean_lines(str(error))).strip() or type(error).__name__


def _usage(error: click.ClickException) -> str:
    message = clean(_message(error))
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context and not message.endswith((".", "?")):  # of a word too many
        message += "."
    return f"{message} See `{context.command_path} --help`." if context else message


def _message(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        return unknown.option(error)
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        return f"Missing option '{error.param.opts[0]} {error.param.metavar}'."
    return error.format_message()


def _at(error: OSError) -> str:
    return f" at {error.filename}" if error.filename else ""


def _unexpected(error: BaseException, arguments: Sequence[str]) -> Failure:
    """Write a log that is ready for a bug report; without a place for it, to the terminal."""
    report = _report(error, arguments)
    what = f"This is a bug ({type(error).__name__})"
    try:
        path = _log(report)
    except OSError:
        return Failure(1, f"{what}: please report it with the lines above.", report)
    return Failure(1, f"{what}: please report it with {path}.")


def _report(error: BaseException, arguments: Sequence[str]) -> str:
    words = " ".join(map(repr, arguments))
    report = [
        f"orchestrator {_version()}, Python {sys.version}",
        platform.platform(),
        f"arguments: {words}",
        "".join(traceback.format_exception(error)),
    ]
    # A password in the address of a repository has no business in a bug report.
    return re.sub(r"://[^\s/@']+@", "://***@", "\n".join(report))


def _version() -> str:
    try:
        return version("orchestrator")
    except PackageNotFoundError:
        return "not installed"


def _log(report: str) -> Path:
    folder = place.home() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}.log")
    path.write_text(report, encoding="utf-8")
    return path


def _close_stdout() -> None:
    """Python would complain again when it flushes the closed pipe at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
