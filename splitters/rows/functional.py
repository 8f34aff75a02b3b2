"""Functional languages: Elixir and Haskell."""

from splitters.declared import first, follow, text, within, word
from splitters.language import Declared, Language
from splitters.syntax import Node

DEFINITIONS = {
    "defmodule": "module",
    "defprotocol": "protocol",
    "defimpl": "impl",
    "def": "function",
    "defp": "function",
    "defdelegate": "function",
    "defguard": "function",
    "defguardp": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "test": "test",
    "describe": "test",
}
"""The calls of Elixir that define something."""


def elixir_call(node: Node, kind: str) -> Declared | None:
    """A definition, which Elixir's syntax knows as a call like any other."""
    found = DEFINITIONS.get(word(follow(node, "target")))
    at = follow(node, "arguments")
    at = at.named_children[0] if at is not None and at.named_children else None
    if found is None or at is None:
        return None
    if at.type == "binary_operator" and text(follow(at, "operator")) == "when":
        at = follow(at, "left")
    if found == "test":
        return Declared(found, text(at).strip('"'))
    if found == "impl":
        of = follow(node, "arguments/keywords/pair/value")
        return Declared(found, f"{text(at)} for {text(of)}" if of else text(at), scope=text(of))
    if at is not None and at.type == "binary_operator":
        return Declared(found, text(follow(at, "operator")))
    return Declared(found, text(follow(at, "target") if at and at.type == "call" else at))


def haskell_equation(node: Node, kind: str) -> Declared | None:
    """An equation of the module, a class or an instance; not one of a `where`."""
    if not within(node, "declarations", "class_declarations", "instance_declarations"):
        return None
    name = follow(node, "name|infix/operator")
    return Declared(kind, text(name).strip("`")) if name else None


def haskell_signature(node: Node, kind: str) -> Declared | None:
    """A method of a class; elsewhere a signature belongs to the equations below it."""
    name = follow(node, "name")
    return Declared(kind, text(name)) if name and within(node, "class_declarations") else None


def haskell_instance(node: Node, kind: str) -> Declared:
    """An instance: `Show Tree`; its functions are those of the type."""
    of = first(node, "type_patterns")
    name = f"{text(follow(node, 'name'))} {text(of)}".strip()
    return Declared(kind, name)


ROWS = (
    Language(
        "elixir",
        suffixes=(".ex", ".exs"),
        files=("mix.lock",),
        interpreters=("elixir",),
        kinds={"call": "function"},
        names={"call": elixir_call},
        attached=frozenset({"comment", "unary_operator"}),
        clauses=frozenset({"call"}),
    ),
    Language(
        "haskell",
        suffixes=(".hs", ".hsc"),
        interpreters=("runhaskell", "runghc", "stack"),
        kinds={
            "function": "function",
            "bind": "function",
            "signature": "method",
            "data_type": "type",
            "newtype": "type",
            "type_synomym": "type",
            "type_family": "type",
            "class": "class",
            "instance": "instance",
        },
        names={
            "function": haskell_equation,
            "bind": haskell_equation,
            "signature": haskell_signature,
            "instance": haskell_instance,
        },
        holders=frozenset({"declarations"}),
        attached=frozenset({"comment", "haddock", "signature", "pragma"}),
        trails=(b"--", b"{-|", b"-}"),
        clauses=frozenset({"function", "bind", "signature"}),
    ),
)
