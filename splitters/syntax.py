"""The one door to tree-sitter and its grammars."""

from functools import cache

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from splitters.language import Language

__all__ = ["Node", "Tree", "found", "parse", "reparse"]


def parse(data: bytes, language: Language) -> Tree:
    """Parse a file; what is no valid syntax is in `ERROR` nodes."""
    return Parser(_grammar(language.parser)).parse(data)


def reparse(tree: Tree, old: bytes, new: bytes, start: int, end: int, language: Language) -> Tree:
    """Parse a text again of which only `start` up to `end` is different now.

    Where it is not valid, recovery from its errors may depend on what was there before: then it
    is parsed as a whole.
    """
    end_now = end + len(new) - len(old)
    edited = tree.copy()
    edited.edit(start, end, end_now, _point(old, start), _point(old, end), _point(new, end_now))
    parsed = Parser(_grammar(language.parser)).parse(new, edited)
    return parse(new, language) if parsed.root_node.has_error else parsed


def _point(text: bytes, at: int) -> tuple[int, int]:
    return text.count(b"\n", 0, at), at - text.rfind(b"\n", 0, at) - 1


def found(tree: Tree, language: Language, types: frozenset[str]) -> list[Node]:
    """The nodes of these types, in the order of the file, the outer before the inner.

    A query: it goes through a tree several times as fast as we could, at any depth.
    """
    if not types:
        return []
    nodes = QueryCursor(_query(language.parser, types)).captures(tree.root_node).get("node", [])
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


@cache
def _query(name: str, types: frozenset[str]) -> Query:
    return Query(_grammar(name), " ".join(f"({type_}) @node" for type_ in sorted(types)))


@cache
def _grammar(name: str) -> Grammar:
    import tree_sitter_language_pack as grammars  # noqa: PLC0415 - 0.06 s, and text needs none

    return grammars.get_language(name)  # type: ignore[arg-type]  # its Literal of names
