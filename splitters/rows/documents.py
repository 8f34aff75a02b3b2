"""Documents with headings: Markdown and reStructuredText."""

import re

from splitters.declared import first, follow, short, text
from splitters.language import Declared, Language
from splitters.syntax import Node


def markdown_heading(node: Node, kind: str) -> Declared | None:
    """A section by its heading; one in a quotation or a list is none."""
    around = node.parent
    while around is not None and around.type == "section":
        around = around.parent
    if around is None or around.type not in {"document", "ERROR"}:
        return None
    mark = next((child.type for child in node.named_children if "_h" in child.type), "")
    rank = re.search(r"_h([1-6])_", mark)
    name = re.sub(r"(^|\s)#+$", "", text(follow(node, "heading_content")))
    return Declared(kind, short(name), heading=rank[1]) if rank else None


def rst_heading(node: Node, kind: str) -> Declared:
    """A section by its title; its rank is in the signs above and below it."""
    signs = "".join(text(child)[:1] for child in node.children if child.type == "adornment")
    return Declared(kind, short(text(first(node, "title"))), heading=signs or "?")


ROWS = (
    Language(
        "markdown",
        suffixes=(".md", ".markdown", ".mdx", ".mdown", ".mkd", ".qmd", ".rmd"),
        item=rb"# ",
        endless=frozenset({"code_fence_content", "html_block"}),
        kinds={"atx_heading": "section", "setext_heading": "section"},
        names={"atx_heading": markdown_heading, "setext_heading": markdown_heading},
        joint=" / ",
    ),
    Language(
        "rst",
        suffixes=(".rst", ".rest"),
        aliases=("restructuredtext",),
        kinds={"section": "section"},
        names={"section": rst_heading},
        joint=" / ",
    ),
)
