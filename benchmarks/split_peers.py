"""The well-known chunkers of code, run by their own interpreter; `split_peers.py NAME`."""

import sys

import tree_sitter_language_pack as grammars
from chonkie import CodeChunker
from llama_index.core.node_parser import CodeSplitter as LlamaSplitter
from semantic_text_splitter import CodeSplitter as SemanticSplitter

from benchmarks.splitter import Split, serve


def _llama(language: str, target: int) -> Split:
    # The tokenizer is not used; without one, it would be downloaded.
    splitter = LlamaSplitter(language, max_chars=target, tokenizer=str.split)
    return lambda data, text: splitter.split_text(text)


def _semantic(language: str, target: int, trim: bool = True) -> Split:
    splitter = SemanticSplitter(grammars.get_binding(language), target, trim=trim)
    return lambda data, text: splitter.chunks(text)


def _semantic_whole(language: str, target: int) -> Split:
    return _semantic(language, target, trim=False)


def _chonkie(language: str, target: int) -> Split:
    splitter = CodeChunker("character", target, language)
    return lambda data, text: splitter.chunk(text)


SPLITTERS = {
    "llama-index": _llama,
    "semantic-text-splitter": _semantic,
    "semantic-text-splitter, trim=False": _semantic_whole,
    "chonkie": _chonkie,
}

if __name__ == "__main__":
    serve(SPLITTERS[sys.argv[1]])
