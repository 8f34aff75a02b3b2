"""Our splitter, or the plain parse it is measured against; `split_ours.py NAME`."""

import sys

import tree_sitter_language_pack as grammars
from tree_sitter import Parser

import splitters
from benchmarks.splitter import Split, serve


def _raw(language: str, target: int) -> Split:
    parser = Parser(grammars.get_language(language))
    return lambda data, text: parser.parse(data)


def _ours(language: str, target: int) -> Split:
    return lambda data, text: splitters.split(data, language, target)


SPLITTERS = {"raw parse": _raw, "ours": _ours}

if __name__ == "__main__":
    serve(SPLITTERS[sys.argv[1]])
