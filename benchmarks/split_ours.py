"""Our splitter, or the plain parse it is measured against; `split_ours.py NAME`."""

import sys

import splitters
from benchmarks.splitter import Split, plain, serve


def _ours(language: str, target: int) -> Split:
    return lambda data, text: splitters.split(data, language, target)


SPLITTERS = {"raw parse": plain, "ours": _ours}

if __name__ == "__main__":
    serve(SPLITTERS[sys.argv[1]])
