"""A map of a repository for whoever is new in it: of which files it is made, where it is kept.

The work is bounded by the number and the size of files, not by time: the same tree always gives
the same map, so that a recorded conversation in which it stands can be played again.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from orchestrator.parser import Parser
from orchestrator.repository import Base, Repository
from orchestrator.sources import FOREIGN
from sandbox import scratch
from splitters import detect
from splitters.map import Glance, draw

TOKENS = 1_024
"""The size of a map when nothing is said."""
FILES = 2_000
BYTES = 8 << 20
"""Of all files together: some seconds' work."""
FILE = 256 << 10
"""Bytes; a larger file was most likely made by a program."""
SECONDS = 60.0
"""After that there is no map rather than half of one, which another time would be another half."""
MARGIN = "| "
"""Starts each line that holds names out of a repository, and marks them as data."""
_VERSION = 1
"""Of what the same files make; kept maps of another one are drawn anew."""
_LISTED = 1 << 30
_ROW = re.compile(rb"(?<![^\0])100\d{3} blob ([0-9a-f]{40}) +(\d+)\t([^\0]+)\0")
_ASIDE = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata|fixtures|benchmarks?|examples?|docs?|samples?)/"
    r"|(^|/)(test_[^/]*|[^/]*[._]test\.[^/]*|[^/]*\.spec\.[^/]*)$",
    re.IGNORECASE,
)
"""Files that say less of what a repository is."""
_NO_CODE = re.compile(
    "css|csv|diff|dockerfile|gitignore|html|ini|json[c5]?|latex|make|markdown|notebook|properties"
    "|rst|restructuredtext|scss|sql|svg|text|toml|xml|yaml"
)
"""Languages whose declarations are no names that other files mention."""


class MapError(Exception):
    """There is no map, and why."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The files that a map is made of."""

    paths: tuple[str, ...]
    left_out: int
    """How many more there are that could have been among them."""
    listeners: frozenset[str]
    """Those of them that only mention, such as tests: what they declare is not for the map."""


def choose(files: Iterable[tuple[str, int]]) -> Choice:
    """Of paths with their sizes in bytes those of code, the ones nearest the top first.

    What others wrote and what is huge is left out; tests, examples and the like come last.
    """
    code = [(path, size) for path, size in files if size <= FILE and _is_code(path)]
    chosen: list[str] = []
    room = BYTES
    for path, size in sorted(code, key=_order):
        if len(chosen) == FILES or size > room:
            break
        chosen.append(path)
        room -= size
    aside = frozenset(path for path in chosen if _ASIDE.search(path))
    listeners = aside if len(aside) < len(chosen) else frozenset()
    return Choice(tuple(chosen), len(code) - len(chosen), listeners)


def gather(parser: Parser, choice: Choice, files: Iterable[tuple[str, bytes]]) -> Iterator[Glance]:
    """Each file at a glance."""
    for path, content in files:
        seen = parser.glance(content, path)
        yield replace(seen, declarations=()) if path in choice.listeners else seen


def of_base(repository: Repository, base: Base, tokens: int, pack: Path) -> str:
    """The map of a commit, every line behind `MARGIN`; drawn once, and kept beside the `pack`.

    Raises MapError when nothing is declared there, or when it takes too long.
    """
    kept = pack.with_name(f"{pack.stem}-{tokens}-{_VERSION}.map")
    try:
        return kept.read_text("utf-8")
    except (OSError, ValueError):
        text = _drawn(repository, base, tokens)
    with suppress(OSError), scratch.folder(kept.parent) as place:
        new = place / kept.name
        new.write_text(text, "utf-8")
        os.replace(new, kept)
    return text


def _drawn(repository: Repository, base: Base, tokens: int) -> str:
    listed = repository.git.run(
        "ls-tree", "-r", "-z", "-l", "--full-tree", base.tree, limit=_LISTED
    )
    blobs = {
        os.fsdecode(path): (blob.decode("ascii"), int(size))
        for blob, size, path in _ROW.findall(listed)
    }
    choice = choose((path, size) for path, (_, size) in blobs.items())
    with Parser() as parser:
        contents = _contents(repository, [(path, *blobs[path]) for path in choice.paths])
        text = draw(_timely(gather(parser, choice, contents)), tokens, MARGIN).text
    if not text:
        raise MapError("nothing is declared in its files, or the map is too small for a line")
    return text


def _contents(
    repository: Repository, files: Sequence[tuple[str, str, int]]
) -> Iterator[tuple[str, bytes]]:
    """Each file with its content; all of them in one question to git."""
    asked = "".join(f"{blob}\n" for _, blob, _ in files)
    said = memoryview(
        repository.git.run("cat-file", "--batch", stdin=asked.encode(), limit=2 * BYTES)
    )
    at = 0
    for path, blob, size in files:
        at += len(f"{blob} blob {size}\n")
        yield path, bytes(said[at : at + size])
        at += size + 1


def _timely(seen: Iterator[Glance]) -> Iterator[Glance]:
    until = monotonic() + SECONDS
    for each in seen:
        if monotonic() > until:
            raise MapError(f"it took more than {SECONDS:g} seconds")
        yield each


def _is_code(path: str) -> bool:
    found = detect(path)
    return found is not None and not _NO_CODE.fullmatch(found.name) and not FOREIGN.search(path)


def _order(file: tuple[str, int]) -> tuple[bool, int, str]:
    path, _ = file
    return bool(_ASIDE.search(path)), path.count("/"), path
