"""Data in members: JSON, notebooks, YAML, TOML."""

from splitters.declared import follow, short, text, within
from splitters.language import Declared, Language
from splitters.notebook import cell
from splitters.syntax import Node

IDENTITIES = ("id", "name", "key", "title", "job_name", "alert", "path", "url")
"""The members that tell one object of a list from its equals, the best first."""
LOOKED_AT = 12
"""Members of an object that are read to find one of them."""


def bare(node: Node | None) -> str:
    """A key or value without its quotes."""
    return text(node).strip("'\"")


def pair(node: Node, kind: str) -> Declared | None:
    """A member of an object, unless the object is in a list."""
    mapping = node.parent
    if mapping is None or within(mapping, "array", "flow_sequence"):
        return None
    if mapping.type == "block_mapping" and within(mapping, "block_node"):
        holder = mapping.parent
        if holder is not None and within(holder, "block_sequence_item"):
            return None
    return Declared(kind, short(bare(follow(node, "key"))))


def item(node: Node, kind: str) -> Declared | None:
    """An object of a list, by the member that tells it from its equals."""
    if node.type == "object" and not within(node, "array"):
        return None
    mapping = follow(node, "block_node/block_mapping") if node.type != "object" else node
    if mapping is None:
        return None
    pairs = [one for one in mapping.named_children if one.type.endswith("pair")][:LOOKED_AT]
    told = {bare(follow(one, "key")): follow(one, "value") for one in pairs}
    for name in IDENTITIES:
        value = told.get(name)
        if value is not None and value.type in {"string", "number", "flow_node"}:
            return Declared(kind, short(bare(value)))
    return None


def toml_pair(node: Node, kind: str) -> Declared | None:
    """A member before the first table."""
    top = within(node, "document")
    return Declared(kind, text(node.named_children[0])) if top else None


ROWS = (
    Language(
        "json",
        suffixes=(
            ".json",
            ".jsonc",
            ".json5",
            ".geojson",
            ".webmanifest",
            ".har",
        ),
        files=(".babelrc", ".eslintrc", "composer.lock", "Pipfile.lock", "flake.lock"),
        kinds={"pair": "member", "object": "item"},
        names={"pair": pair, "object": item},
        attached=frozenset({"comment"}),
        depth=2,
    ),
    Language(
        "notebook",
        grammar="json",
        suffixes=(".ipynb",),
        kinds={"object": "cell"},
        names={"object": cell},
        holders=frozenset({"pair", "array"}),
    ),
    Language(
        "yaml",
        suffixes=(".yaml", ".yml"),
        files=(".clang-format", ".clang-tidy", ".yamllint", "CITATION.cff"),
        kinds={
            "block_mapping_pair": "member",
            "flow_pair": "member",
            "block_sequence_item": "item",
        },
        names={"block_mapping_pair": pair, "flow_pair": pair, "block_sequence_item": item},
        wholes=frozenset({"document"}),
        attached=frozenset({"comment"}),
        trails=(b"#",),
        depth=2,
    ),
    Language(
        "toml",
        suffixes=(".toml",),
        files=("Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile"),
        kinds={"table": "table", "table_array_element": "table", "pair": "member"},
        names={
            "table": "dotted_key|bare_key|quoted_key",
            "table_array_element": "dotted_key|bare_key|quoted_key",
            "pair": toml_pair,
        },
        attached=frozenset({"comment"}),
        trails=(b"#",),
    ),
)
