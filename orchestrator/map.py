"""A map of a repository for whoever is new in it: which files, how they are read, where it is kept.

The work is bounded by the number and the size of files, not by time: the same tree always gives
the same map, so that a recorded conversation in which it stands can be played again.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.parser import Parser
from orchestrator.sources import FOREIGN
from splitters import detect
from splitters.map import Glance

TOKENS = 1_024
"""The size of a map when nothing is said."""
FILES = 2_000
BYTES = 8 << 20
"""Of all files together: some seconds' work."""
FILE = 256 << 10
"""Bytes; a larger file was most likely made by a program."""
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


def _is_code(path: str) -> bool:
    found = detect(path)
    return found is not None and not _NO_CODE.fullmatch(found.name) and not FOREIGN.search(path)


def _order(file: tuple[str, int]) -> tuple[bool, int, str]:
    path, _ = file
    return bool(_ASIDE.search(path)), path.count("/"), path
