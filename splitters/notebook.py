"""Notebooks: JSON files whose cells are their parts."""

import json
import re

from splitters.declared import follow, short, text
from splitters.language import Declared
from splitters.syntax import Node

HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(\S.*?)[ \t#]*$")
LINES = 50
"""Lines of a cell that are read for its name."""


def cell(node: Node, kind: str) -> Declared | None:
    """A cell: an object in the array `cells` of the file.

    A cell of text is named by its first heading; the others, and one without a heading, by their
    first line that is not blank.
    """
    if not _listed(node):
        return None
    told = {text(follow(pair, "key")).strip('"'): pair for pair in node.named_children}
    what = text(_value(told.get("cell_type"))).strip('"')
    source = _source(_value(told.get("source")))
    heading = HEADING.search(source) if what == "markdown" else None
    lines = (line.strip() for line in source.splitlines())
    name = heading[1] if heading else next((line for line in lines if line), "(empty)")
    return Declared(f"{what} {kind}".strip(), short(name))


def _listed(node: Node) -> bool:
    """Whether an object is one of `{"cells": [...]}` at the top of the file."""
    way = ("array", "pair", "object", "document")
    at: Node | None = node
    for type_ in way:
        at = at.parent if at is not None else None
        if at is None or at.type != type_:
            return False
        if type_ == "pair" and text(follow(at, "key")) != '"cells"':
            return False
    return True


def _value(pair: Node | None) -> Node | None:
    return follow(pair, "value") if pair is not None else None


def _source(value: Node | None) -> str:
    """What a cell says: a string, or a list with a string for each line."""
    if value is None:
        return ""
    strings = [value] if value.type == "string" else value.named_children[:LINES]
    return "".join(_plain(one) for one in strings if one.type == "string")


def _plain(string: Node) -> str:
    try:
        return str(json.loads(string.text or b'""'))
    except ValueError:
        return text(string).strip('"')
