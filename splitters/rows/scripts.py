"""Languages of scripts: Python, Ruby, PHP, Lua, Bash, Julia."""

from splitters.declared import first, follow, text, within
from splitters.language import Declared, Language
from splitters.syntax import Node

TESTS = frozenset({"context", "describe", "feature", "it", "scenario", "specify", "suite", "test"})
"""Calls that a test framework reads as declarations, when a string and a block follow."""


def python_constant(node: Node, kind: str) -> Declared | None:
    """A name of the module in capitals."""
    name = text(follow(node, "left"))
    capital = name.isidentifier() and name.isupper()
    return Declared(kind, name) if capital and within(node, "module") else None


def ruby_call(node: Node, kind: str) -> Declared | None:
    """A test: `it "adds" do`."""
    named = follow(node, "arguments/string/string_content|arguments/constant")
    named = named or follow(node, "arguments/scope_resolution")
    if named is None or not follow(node, "block") or text(follow(node, "method")) not in TESTS:
        return None
    return Declared(kind, text(named))


def ruby_constant(node: Node, kind: str) -> Declared | None:
    """A constant of a module or class."""
    name = first(node, "constant")
    return Declared(kind, text(name)) if name and name == follow(node, "left") else None


def php_namespace(node: Node, kind: str) -> Declared:
    """With a body, or to the next namespace."""
    return Declared(kind, text(follow(node, "name")), heading="" if follow(node, "body") else "1")


def lua_assignment(node: Node, kind: str) -> Declared | None:
    """A function that is assigned: `M.f = function`."""
    function = follow(node, "expression_list/function_definition")
    return Declared(kind, text(follow(node, "variable_list"))) if function else None


def lua_field(node: Node, kind: str) -> Declared | None:
    """A function in a table: `{ f = function`."""
    function = follow(node, "function_definition")
    return Declared(kind, text(follow(node, "name"))) if function else None


def julia_signature(node: Node, kind: str) -> Declared | None:
    """A function by what it is called as: `Base.show(io, x) where T`."""
    at = first(node, "signature") or (node if node.type == "assignment" else None)
    while at is not None and at.type != "call_expression":
        if at.type not in {"signature", "assignment", "where_expression", "typed_expression"}:
            return None
        at = at.named_children[0] if at.named_children else None
    if at is None:
        return None
    return Declared(kind, ("@" if kind == "macro" else "") + text(at.named_children[0]))


def julia_type(node: Node, kind: str) -> Declared | None:
    """A type without its parameters and its supertype."""
    at = first(node, "type_head")
    while at is not None and at.type != "identifier":
        at = at.named_children[0] if at.named_children else None
    return Declared(kind, text(at)) if at else None


def julia_constant(node: Node, kind: str) -> Declared | None:
    """A constant of a module."""
    name = follow(node, "assignment/identifier")
    return Declared(kind, text(name)) if name and not within(node, "compound_statement") else None


ROWS = (
    Language(
        "python",
        suffixes=(".py", ".pyi", ".pyw", ".bzl"),
        files=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "pypy", "uv"),
        item=rb"(#.*\n)*(def |async def |class |@\w|[A-Z_]+ = |if __)",
        kinds={
            "function_definition": "function",
            "class_definition": "class",
            "type_alias_statement": "type",
            "assignment": "constant",
        },
        names={"type_alias_statement": "left", "assignment": python_constant},
        wrappers=frozenset({"decorated_definition"}),
        attached=frozenset({"comment", "decorator"}),
    ),
    Language(
        "ruby",
        suffixes=(".rb", ".rake", ".gemspec", ".ru"),
        files=("Gemfile", "Rakefile", "Guardfile", "Vagrantfile", "Podfile", "Brewfile"),
        interpreters=("ruby", "jruby", "rake"),
        kinds={
            "module": "module",
            "class": "class",
            "method": "method",
            "singleton_method": "method",
            "assignment": "constant",
            "call": "test",
        },
        names={"assignment": ruby_constant, "call": ruby_call},
        attached=frozenset({"comment"}),
    ),
    Language(
        "php",
        suffixes=(".php", ".phtml", ".php5"),
        interpreters=("php",),
        kinds={
            "namespace_definition": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "method_declaration": "method",
            "function_definition": "function",
        },
        names={"namespace_definition": php_namespace},
        attached=frozenset({"comment", "attribute_list"}),
        joint="::",
        joints={"namespace": "\\"},
    ),
    Language(
        "lua",
        suffixes=(".lua", ".rockspec"),
        files=(".luacheckrc",),
        interpreters=("lua", "luajit"),
        kinds={
            "function_declaration": "function",
            "assignment_statement": "function",
            "field": "function",
        },
        names={"assignment_statement": lua_assignment, "field": lua_field},
        wrappers=frozenset({"variable_declaration"}),
        attached=frozenset({"comment"}),
    ),
    Language(
        "bash",
        suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
        files=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", "PKGBUILD"),
        interpreters=("bash", "sh", "dash", "zsh", "ksh", "ash"),
        aliases=("shell",),
        kinds={"function_definition": "function"},
        attached=frozenset({"comment"}),
    ),
    Language(
        "julia",
        suffixes=(".jl",),
        interpreters=("julia",),
        kinds={
            "module_definition": "module",
            "function_definition": "function",
            "assignment": "function",
            "macro_definition": "macro",
            "struct_definition": "struct",
            "abstract_definition": "type",
            "primitive_definition": "type",
            "const_statement": "constant",
        },
        names={
            "function_definition": julia_signature,
            "assignment": julia_signature,
            "macro_definition": julia_signature,
            "struct_definition": julia_type,
            "abstract_definition": julia_type,
            "primitive_definition": julia_type,
            "const_statement": julia_constant,
        },
        attached=frozenset({"line_comment", "block_comment", "string_literal"}),
    ),
)
