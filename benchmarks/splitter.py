"""One splitter in a process of its own: what `split_ours.py` and `split_peers.py` do.

Reads requests from stdin, one JSON object a line, and answers each with one: the processor's
seconds for all the files (no splitter uses a second thread, and so a busy machine counts for less),
with a plain parse of each before it, and how long those took; or the pieces of each, or the bytes
of memory that splitting one file added at most.
What a splitter is made from (a parser, a grammar) is made before the clock starts.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import tree_sitter_language_pack as grammars
from tree_sitter import Parser

Split = Callable[[bytes, str], object]
"""Of a file's bytes and text, each splitter takes the one that it wants."""
Make = Callable[[str, int], Split]
"""Of a language and a target."""


def plain(language: str, target: int) -> Split:
    """No splitter: a parse."""
    parser = Parser(grammars.get_language(language))
    return lambda data, text: parser.parse(data)


def _times(splits: Sequence[Split], files: Sequence[bytes], texts: Sequence[str]) -> list[float]:
    """The processor's seconds of each, which take turns at every file."""
    taken = [0.0 for _ in splits]
    for data, text in zip(files, texts, strict=True):
        for index, split in enumerate(splits):
            began = time.process_time()
            split(data, text)
            taken[index] += time.process_time() - began
    return taken


def _texts(made: object, data: bytes) -> list[str]:
    """What the splitter made, as the text of each piece."""
    if hasattr(made, "pieces"):
        return [data[piece.start : piece.end].decode() for piece in made.pieces]
    assert isinstance(made, Iterable)
    return [one if isinstance(one, str) else one.text for one in made]


def _memory(split: Split, data: bytes, text: str) -> int:
    """Bytes by which the peak exceeds what was held before, see proc(5)."""
    split(data[:100], text[:100])
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from now
    before = _status("VmRSS")
    held = split(data, text)
    peak = _status("VmHWM")
    del held
    return peak - before


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024


def serve(make: Make) -> None:
    """Answer requests until stdin ends."""
    make, parse = cache(make), cache(plain)
    for line in sys.stdin:
        asked = json.loads(line)
        split = make(asked["language"], asked["target"])
        files = [Path(path).read_bytes() for path in asked["paths"]]
        texts = [data.decode() for data in files]
        answer: object
        if asked["want"] == "pieces":
            made = (split(*both) for both in zip(files, texts, strict=True))
            answer = [_texts(one, data) for one, data in zip(made, files, strict=True)]
        elif asked["want"] == "memory":
            answer = _memory(split, files[0], texts[0])
        else:
            answer = _times([parse(asked["language"], asked["target"]), split], files, texts)
        print(json.dumps(answer), flush=True)
