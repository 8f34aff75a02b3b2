"""A repository on a page: the declarations that most other files mention, within a budget.

A declaration counts `users / definitions²`: the files that mention its name without declaring it
themselves, and how often the name is declared anywhere. So what is declared once and used in many
places comes first, and `main`, `get` or `__init__` do not. A name that may as well be a word, or
that is private by its first letter, counts a tenth: `path` is mentioned everywhere and means other
things there. It is counting, not a graph: no import is followed, and a name in a comment is a
mention. The same files always give the same map.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from splitters.outline import Declaration

TOKEN = 4
"""Bytes that are taken for a token."""
LONGEST = 200
"""Bytes of the longest name or path that has a place in a map."""

_JOINT = re.compile(r"[.:#/]+")
"""What stands between the parts of a qualified name, in one language or another."""

_Candidate = tuple[str, Declaration]
"""The path of a file, and a declaration in it."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What a map needs to know of one file."""

    path: str
    declarations: tuple[Declaration, ...]
    """Of these and their children the map is made."""
    words: frozenset[str]
    """The names that occur anywhere in the file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the map, with those of its declarations that have a place, in their order."""

    path: str
    declarations: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """The files of a map, the most mentioned first."""

    entries: tuple[Entry, ...]
    text: str
    """A line for each file, and under it one for each declaration with its first line."""
    tokens: int
    """Of the text: its bytes by 4, rounded up."""
    left_out: int
    """How many declarations found no place."""


def draw(files: Iterable[Glance], tokens: int, margin: str = "") -> Map:
    """Choose and write down; `margin` starts every line, and the text is never over `tokens`."""
    shown = [file for file in files if _is_plain(file.path)]
    candidates = [each for _, each in sorted(_candidates(shown), key=_order)]
    chosen, left = _chosen(candidates, tokens * TOKEN, margin)
    entries = [Entry(path, tuple(sorted(found, key=_place))) for path, found in chosen.items()]
    text = "".join(line for entry in entries for line in _lines(entry, margin))
    cost = -(-len(text.encode("utf-8", "replace")) // TOKEN)
    return Map(tuple(entries), text, cost, left)


def _candidates(files: Sequence[Glance]) -> Iterator[tuple[float, _Candidate]]:
    """What could have a place, each with its score."""
    declared = [(*file.declarations, *_children(file.declarations)) for file in files]
    own = [{_short(one) for one in each} for each in declared]
    definitions = Counter(_short(one) for each in declared for one in each)
    users = Counter(
        word
        for file, names in zip(files, own, strict=True)
        for word in file.words - names
        if word in definitions
    )
    for file, each in zip(files, declared, strict=True):
        for number, one in enumerate(each):
            name = _short(one)
            score = users[name] / definitions[name] ** 2 * _weight(name)
            if _is_plain(one.name) and (score or number < len(file.declarations)):
                yield score, (file.path, one)


def _children(declared: Iterable[Declaration]) -> Iterator[Declaration]:
    for one in declared:
        yield from one.children


def _weight(name: str) -> float:
    """A tenth for what may be a word, or is private."""
    telling = any(char.isupper() or char.isdigit() or char == "_" for char in name)
    return 1.0 if telling and not name.startswith("_") else 0.1


def _order(candidate: tuple[float, _Candidate]) -> tuple[float, str, int, str]:
    score, (path, one) = candidate
    return -score, path, one.start, one.name


def _chosen(
    candidates: Sequence[_Candidate], room: int, margin: str
) -> tuple[dict[str, list[Declaration]], int]:
    """The declarations that have a place, by their files, and how many have none."""
    chosen: dict[str, list[Declaration]] = {}
    left = 0
    for path, one in candidates:
        lines = [_line(one, margin)] if path in chosen else [*_lines(Entry(path, (one,)), margin)]
        cost = sum(len(line.encode("utf-8", "replace")) for line in lines)
        if cost > room:
            left += 1
            continue
        room -= cost
        chosen.setdefault(path, []).append(one)
    return chosen, left


def _lines(entry: Entry, margin: str) -> Iterator[str]:
    yield f"{margin}{entry.path}\n"
    for one in entry.declarations:
        yield _line(one, margin)


def _line(one: Declaration, margin: str) -> str:
    return f"{margin}{one.first_line:6}  {one.kind} {one.name}\n"


def _place(one: Declaration) -> int:
    return one.start


def _short(one: Declaration) -> str:
    """A name as other files write it: without what encloses it."""
    return _JOINT.split(one.name)[-1]


def _is_plain(name: str) -> bool:
    """Whether a name can stand in a line of its own and be nothing else."""
    return name.isprintable() and 0 < len(name.encode("utf-8", "replace")) <= LONGEST
