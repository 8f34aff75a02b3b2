"""One splitter in a process of its own: what `split_ours.py` and `split_peers.py` do.

Reads requests from stdin, one JSON object a line, and answers each with one: the processor's
seconds for all the files (no splitter uses a second thread, and so a busy machine counts for less),
or the pieces of each, or the bytes of memory that splitting one file added at most.
What a splitter is made from (a parser, a grammar) is made before the clock starts.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

Split = Callable[[bytes, str], object]
"""Of a file's bytes and text, each splitter takes the one that it wants."""
Make = Callable[[str, int], Split]
"""Of a language and a target."""


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
    make = cache(make)
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
            began = time.process_time()
            for data, text in zip(files, texts, strict=True):
                split(data, text)
            answer = time.process_time() - began
        print(json.dumps(answer), flush=True)
