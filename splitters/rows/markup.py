"""HTML, XML and CSS."""

from html import unescape

from splitters.declared import first, follow, short, text
from splitters.language import Declared, Language
from splitters.syntax import Node

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
IDENTITIES = ("id", "name", "key")
"""The attributes that tell one element of XML from its equals."""


def html_element(node: Node, kind: str) -> Declared | None:
    """A heading by its text, another element by its `id`."""
    start = first(node, "start_tag", "self_closing_tag")
    if start is None:
        return None
    tag = text(first(start, "tag_name")).lower()
    if tag in HEADINGS:
        return Declared("heading", short(unescape(html_text(node))) or tag)
    for attribute in start.named_children:
        if text(first(attribute, "attribute_name")).lower() == "id":
            value = follow(attribute, "quoted_attribute_value/attribute_value|attribute_value")
            return Declared(kind, short(f"{tag}#{text(value)}"))
    return None


def html_text(node: Node) -> str:
    """What an element says, without its tags."""
    parts: list[str] = []
    todo = [node]
    while todo and len(parts) < 20:
        at = todo.pop()
        if at.type in {"text", "entity"}:
            parts.append(text(at))
        todo += reversed(at.named_children)
    return " ".join(parts)


def html_raw(node: Node, kind: str) -> Declared:
    """A script or a style sheet inside a page."""
    return Declared(kind, kind)


def xml_element(node: Node, kind: str) -> Declared | None:
    """An element by its tag, and what tells it from its equals: `bean#store`."""
    start = first(node, "STag", "EmptyElemTag")
    if start is None:
        return None
    tag = text(first(start, "Name"))
    told = {
        text(first(attribute, "Name")): text(first(attribute, "AttValue")).strip("'\"")
        for attribute in start.named_children
        if attribute.type == "Attribute"
    }
    own = next((told[name] for name in IDENTITIES if told.get(name)), "")
    return Declared(kind, short(f"{tag}#{own}" if own else tag))


def css_rule(node: Node, kind: str) -> Declared | None:
    """A rule by what stands before its block."""
    block = first(node, "block", "keyframe_block_list")
    head = text(node)[: -len(text(block))] if block is not None else ""
    return Declared(kind, short(head.rstrip())) if head else None


ROWS = (
    Language(
        "html",
        suffixes=(".html", ".htm", ".xhtml", ".vue", ".svelte"),
        kinds={"element": "element", "script_element": "script", "style_element": "style"},
        names={
            "element": html_element,
            "script_element": html_raw,
            "style_element": html_raw,
        },
        attached=frozenset({"comment"}),
        joint=" / ",
    ),
    Language(
        "xml",
        suffixes=(
            *(".xml", ".xsd", ".xsl", ".xslt", ".svg", ".plist", ".rss", ".atom", ".wsdl"),
            *(".csproj", ".vbproj", ".fsproj", ".props", ".targets", ".resx", ".xaml"),
        ),
        files=("web.config", "app.config", "packages.config", "nuget.config"),
        kinds={"element": "element"},
        names={"element": xml_element},
        attached=frozenset({"Comment"}),
        joint=" / ",
        depth=3,
    ),
    Language(
        "css",
        suffixes=(".css",),
        kinds={
            "rule_set": "rule",
            "media_statement": "media",
            "supports_statement": "supports",
            "keyframes_statement": "keyframes",
            "at_rule": "rule",
        },
        names={
            "rule_set": css_rule,
            "media_statement": css_rule,
            "supports_statement": css_rule,
            "keyframes_statement": css_rule,
            "at_rule": css_rule,
        },
        attached=frozenset({"comment"}),
        joint=" / ",
    ),
)
