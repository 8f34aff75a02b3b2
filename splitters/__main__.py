"""The splitters as a filter, for a caller that must survive the parsing of hostile bytes.

    python -m splitters MEMORY SECONDS

Grammars are C: a file can make one crash, hang or eat all memory, and this process alone pays for
it. Of MEMORY bytes it takes no more, and no answer takes more than SECONDS of processor time. All
that it may need is loaded first; then it can open nothing any more, neither file nor connection. A
frame on stdin holds a question as JSON and a file; the answer is a frame with JSON and no file.
"""

import codecs
import json
import re
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from time import process_time
from typing import Any, BinaryIO

from splitters.detect import detect
from splitters.frames import HEADER, head
from splitters.outline import Declaration, Outline, outline
from splitters.source import MARKS
from splitters.split import split
from splitters.syntax import parse
from splitters.table import BY_NAME, LANGUAGES, UnknownLanguageError

DEPTH = 64
"""Declarations nested deeper are left out of an outline."""
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]{1,99}")
_WORDS = 5_000

Answer = dict[str, object]


def main(arguments: list[str]) -> int:
    """Answer until stdin ends."""
    memory, seconds = map(int, arguments)
    load()
    confine(memory)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    _say(stdout, {})  # ready: from here on the caller's clock runs
    while header := stdin.read(HEADER.size):
        size, length = HEADER.unpack(header)
        question, data = json.loads(stdin.read(size)), stdin.read(length)
        _allow(seconds)
        _say(stdout, answer(question, data))
    return 0


def load() -> None:
    """Have every grammar in memory, and what Python loads when it is first used."""
    for language in LANGUAGES:
        parse(b"", language)
    for encoding in ("utf-8", "latin-1", "ascii", *(name for _, name in MARKS)):
        codecs.lookup(encoding)


def confine(memory: int) -> None:
    """Take no more memory, open and write nothing, start no process, leave no image of a crash."""
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for limit, value in limits.items():
        # macOS has no limit of address space; one that is lower already stays.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _allow(seconds: int) -> None:
    """End this process when it has used so much more of the processor: nobody may be waiting."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(process_time()) + seconds + 1, hard))


def _say(stdout: BinaryIO, said: Answer) -> None:
    stdout.write(head(said))
    stdout.flush()


def answer(question: Mapping[str, Any], data: bytes) -> Answer:
    """What one frame says; `unknown` and `failed` hold a sentence."""
    try:
        return ANSWERS[question["op"]](question, data)
    except UnknownLanguageError as problem:
        return {"unknown": str(problem)}
    except (RecursionError, MemoryError) as problem:
        return {"failed": f"the parser gave up with {type(problem).__name__}"}


def _split(question: Mapping[str, Any], data: bytes) -> Answer:
    name = _language(question, data)
    found = split(data, name, question["target"], question["natural"])
    if name in BY_NAME and found.language == "text":
        return {"failed": "it is nested too deep for the parser"}
    whole = _plain(found, "data", "pieces")
    return {**whole, "pieces": [_plain(piece) for piece in found.pieces]}


def _outline(question: Mapping[str, Any], data: bytes) -> Answer:
    name = _language(question, data)
    # An unknown name is split's to refuse, and an empty text costs it nothing.
    row = BY_NAME.get(split(b"", name).language)
    found = outline(data, row) if row else Outline(())
    return {
        "language": row.name if row else "text",
        "declarations": [*_rows(found.declarations, min(question["depth"], DEPTH))],
        "whole": found.whole,
        "words": _words(data) if question["words"] else [],
    }


def _words(data: bytes) -> list[str]:
    """The names in a file, wherever they stand; of a huge one the first by alphabet."""
    found = sorted(set(_NAME.findall(data)))
    return [name.decode("utf-8", "replace") for name in found[:_WORDS]]


def _language(question: Mapping[str, Any], data: bytes) -> str | None:
    if question["language"] is not None:
        return str(question["language"])
    found = detect(question["path"], data)
    return found.name if found else None


def _rows(declared: tuple[Declaration, ...], deepest: int) -> Iterator[Answer]:
    """Declarations in the order of the file, each with its depth: JSON nests only so far."""
    waiting = [(each, 0) for each in reversed(declared)]
    while waiting:
        one, depth = waiting.pop()
        yield {"depth": depth, **_plain(one, "children")}
        if depth < deepest:
            waiting += [(child, depth + 1) for child in reversed(one.children)]


def _plain(value: object, *without: str) -> Answer:
    """The fields of a value, but for those that JSON cannot say."""
    assert is_dataclass(value)
    names = (field.name for field in fields(value))
    return {name: getattr(value, name) for name in names if name not in without}


ANSWERS: dict[str, Callable[[Mapping[str, Any], bytes], Answer]] = {
    "split": _split,
    "outline": _outline,
}

if __name__ == "__main__":
    main(sys.argv[1:])
