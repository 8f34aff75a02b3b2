"""The one door to tree-sitter and its grammars."""

from functools import cache

import tree_sitter_language_pack as grammars
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Tree

from splitters.language import Language

__all__ = ["Node", "Tree", "parse"]


def parse(data: bytes, language: Language) -> Tree:
    """Parse a file; what is no valid syntax is in `ERROR` nodes."""
    return Parser(_grammar(language.parser)).parse(data)


@cache
def _grammar(name: str) -> Grammar:
    return grammars.get_language(name)  # type: ignore[arg-type]  # its Literal of names
