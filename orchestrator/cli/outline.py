"""`orchestrator outline`: what is declared in files, and where; or a map of them all."""

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click

from orchestrator import outlines, sources
from orchestrator.cli import say
from orchestrator.cli.options import Whole, as_json, common
from orchestrator.errors import UsageError
from orchestrator.map import FILE, TOKENS, choose, gather
from orchestrator.parser import LARGEST, Outlined, Parser
from orchestrator.screen import count, visible
from splitters import form
from splitters.map import Map, draw

_SILENT = 1.0
"""Seconds of work that nobody is told of."""
_SAMPLE = 8192


@dataclass(frozen=True, slots=True)
class Found:
    """One file, and what is in it or why that is not known."""

    path: str
    outlined: Outlined
    named: bool
    """The file itself was named, not a folder above it."""
    unread: bool = False
    """It was named, and it cannot be read, is no text, or is too large."""

    def as_object(self) -> dict[str, object]:
        return {
            "path": self.path,
            "language": self.outlined.language,
            "declarations": self.outlined.declarations,
            "trouble": self.outlined.trouble,
        }


@click.command("outline")
@click.argument("paths", nargs=-1, metavar="[FILE|DIR...]")
@click.option("--depth", type=Whole(min=1), metavar="N", help="Show N levels of nesting.")
@click.option("--map", "as_map", is_flag=True, help="Show what is mentioned most in all files.")
@click.option("--tokens", type=Whole(min=1), metavar="N", help=f"Map size; {TOKENS} if unsaid.")
@as_json
@common
def command(
    paths: tuple[str, ...], depth: int | None, as_map: bool, tokens: int | None, as_json: bool
) -> int:
    """Show what is declared in files, with the lines where it stands.

    A folder, by default the one you are in, stands for its files as git sees them, without those
    that are ignored; outside of a repository without what is hidden. With --map: one page of all
    files together, the declarations first that most other files mention.

    \b
      orchestrator outline src/app.py
      orchestrator outline --depth 1
      orchestrator outline --map --tokens 2000
    """
    if tokens is not None and not as_map:
        raise UsageError("--tokens is the size of a map: add --map.")
    if depth is not None and as_map:
        raise UsageError("--depth is of outlines, and a map has none: leave it out.")
    files = list(_files(paths or (".",)))
    with closing(Parser()) as parser:
        if as_map:
            _print_map(_map(parser, [path for path, _ in files], tokens or TOKENS), as_json)
            return 0
        found = _outlined(parser, files)
        return _print_objects(found) if as_json else _print(found, depth or sys.maxsize)


def _files(names: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """Every file once, and whether it was named itself. Raises UsageError for a wrong path."""
    if "" in names:
        raise UsageError("A path is empty: name a file or a folder.")
    paths = [Path(name) for name in names]
    for path in paths:
        try:
            if not path.exists():
                raise UsageError(f"There is no file or folder {path}: check the path.")
            if path.is_dir():
                os.scandir(path).close()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    seen: set[Path] = set()
    for path in paths:
        for file in sources.under(path) if path.is_dir() else (path,):
            if file not in seen:
                yield file, file == path
            seen.add(file)


def _outlined(parser: Parser, files: Sequence[tuple[Path, bool]]) -> Iterator[Found]:
    for path, named in _counted(files, len(files)):
        try:
            content = _content(path)
        except OSError as error:
            trouble = f"it cannot be read: {error.strerror}"
            yield Found(_name(path), Outlined("", (), trouble), named, named)
            continue
        trouble = _unfit(content)
        outlined = Outlined("", (), trouble) if trouble else parser.outline(content, str(path))
        yield Found(_name(path), outlined, named, named and bool(trouble))


def _content(path: Path) -> bytes:
    """The file, up to one byte more than is parsed; opening a named pipe does not wait."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no plain file")
        return file.read(LARGEST + 1)


def _unfit(content: bytes) -> str:
    """Why a file has no outline, in words; else empty."""
    if len(content) > LARGEST:
        return f"it has more than {LARGEST >> 20} MiB"
    return "it is binary" if form.encoding(content[:_SAMPLE]) == "binary" else ""


def _print(found: Iterable[Found], depth: int) -> int:
    ink, code, before = say.stdout_ink(), 0, False
    for each in found:
        outlined = each.outlined
        code = UsageError.exit_code if each.unread else code
        if outlined.trouble:
            say.note(f"note: {each.path}: {outlined.trouble}")
        if outlined.declarations or (each.named and not outlined.trouble):
            head = f"{ink.bold(each.path)}  {ink.dim(outlined.language)}"
            lines = outlines.lines(outlined.declarations, depth, ink) or ["(no declarations)"]
            say.out([*([""] if before else []), head, *lines])
            before = True
    return code


def _print_objects(found: Iterable[Found]) -> int:
    objects = list(found)
    say.json([each.as_object() for each in objects])
    return UsageError.exit_code if any(each.unread for each in objects) else 0


def _map(parser: Parser, paths: Sequence[Path], tokens: int) -> Map:
    top = os.path.commonpath([path.absolute().parent for path in paths]) if paths else ""
    # What lies above all of them says nothing about any of them.
    files = {os.path.relpath(path.absolute(), top): path for path in paths if path.is_file()}
    choice = choose((name, path.stat().st_size) for name, path in files.items())
    if choice.left_out:
        say.note(f"note: {count(choice.left_out, 'more file')} would have been too much work")
    glances = gather(parser, choice, _contents(files, choice.paths))
    return draw((replace(each, path=str(files[each.path])) for each in glances), tokens)


def _contents(files: Mapping[str, Path], names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for name in _counted(names, len(names)):
        with suppress(OSError):
            yield name, _content(files[name])


def _print_map(found: Map, as_json: bool) -> None:
    if as_json:
        say.json({"files": found.entries, "tokens": found.tokens, "left_out": found.left_out})
        return
    ink = say.stdout_ink()
    lines = found.text.splitlines()
    say.out(line if line.startswith(" ") else ink.bold(line) for line in lines)
    if not lines:
        say.note(
            "note: nothing is declared in these files, those over"
            f" {FILE >> 10} KiB left out, or the map is too small for a line"
        )


def _name(path: Path) -> str:
    return visible(os.fsencode(path).decode("utf-8", "backslashreplace"))


Item = TypeVar("Item")


def _counted(items: Iterable[Item], total: int) -> Iterator[Item]:
    """The same items; a person who has to wait is told how far it is."""
    if not sys.stderr.isatty():
        yield from items
        return
    shown = time.monotonic()
    told = False
    for number, item in enumerate(items):
        if time.monotonic() - shown > _SILENT:
            shown, told = time.monotonic(), True
            click.echo(f"\r{number:,} of {count(total, 'file')}", err=True, nl=False)
        yield item
    if told:
        click.echo("\r\x1b[K", err=True, nl=False)
