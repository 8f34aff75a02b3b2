"""Files that build and deploy: Dockerfile, Make, Terraform."""

import re

from splitters.declared import follow, short, text, within
from splitters.language import Declared, Language
from splitters.syntax import Node

DIRECTIVE = re.compile(r"\.[A-Z_]+( \.[A-Z_]+)*")
"""Targets that tell make something: `.PHONY`."""


def stage(node: Node, kind: str) -> Declared:
    """A stage of a build: to the next `FROM`."""
    return Declared(kind, text(follow(node, "as|image_spec")), heading="1")


def target(node: Node, kind: str) -> Declared | None:
    """What a rule makes."""
    targets = text(follow(node, "targets"))
    return None if DIRECTIVE.fullmatch(targets) else Declared(kind, short(targets))


def block(node: Node, kind: str) -> Declared:
    """A block by its word and labels: `resource.aws_instance.web`."""
    words = [
        text(child).strip('"')
        for child in node.named_children
        if child.type in {"identifier", "string_lit"}
    ]
    return Declared(words[0] if words else kind, ".".join(words))


def attribute(node: Node, kind: str) -> Declared | None:
    """A value outside any block."""
    body = node.parent
    top = body is not None and within(body, "config_file")
    return Declared(kind, text(follow(node, "identifier"))) if top else None


ROWS = (
    Language(
        "dockerfile",
        suffixes=(".dockerfile", ".containerfile"),
        files=("Dockerfile", "Containerfile", "Dockerfile.*", "Containerfile.*"),
        aliases=("docker",),
        kinds={"from_instruction": "stage"},
        names={"from_instruction": stage},
        attached=frozenset({"comment"}),
    ),
    Language(
        "make",
        suffixes=(".mk", ".mak", ".make"),
        files=("Makefile", "makefile", "GNUmakefile", "Makefile.*", "Kbuild"),
        interpreters=("make",),
        aliases=("makefile",),
        kinds={"rule": "target", "define_directive": "macro"},
        names={"rule": target},
        attached=frozenset({"comment"}),
    ),
    Language(
        "hcl",
        suffixes=(".tf", ".tfvars", ".hcl", ".nomad"),
        files=(".terraform.lock.hcl",),
        aliases=("terraform",),
        kinds={"block": "block", "attribute": "attribute"},
        names={"block": block, "attribute": attribute},
        attached=frozenset({"comment"}),
        depth=2,
    ),
)
