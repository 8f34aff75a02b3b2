"""JavaScript and TypeScript, which name their declarations alike."""

from splitters.declared import follow, text, within, word
from splitters.language import Declared, Language
from splitters.rows.scripts import TESTS
from splitters.rows.systems import COMMENTS
from splitters.syntax import Node

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
TOP = ("program", "export_statement")


def valued(node: Node | None, kind: str) -> str:
    """What a value makes of the name it is given: a `class`, the kind of a function, or nothing."""
    if node is None:
        return ""
    return "class" if node.type == "class" else kind if node.type in FUNCTIONS else ""


def variable(node: Node, kind: str) -> Declared | None:
    """A variable that holds a function or a class, or a constant of the module."""
    name, value = follow(node, "name"), follow(node, "value")
    if name is None or name.type != "identifier":
        return None
    if made := valued(value, kind):
        return Declared(made, text(name))
    statement = node.parent
    if statement is None or not within(statement, *TOP) or value is None:
        return None
    brought = text(follow(value, "function")) in {"require", "import"}
    constant = text(follow(statement, "kind")) == "const" and not brought
    return Declared("constant", text(name)) if constant else None


def assigned(node: Node, kind: str) -> Declared | None:
    """A function that is assigned: `module.exports.x = function`, `A.prototype.x = () =>`."""
    made = valued(follow(node, "right"), kind)
    name = text(follow(node, "left")).replace(".prototype.", ".")
    name = name.removeprefix("module.").removeprefix("exports.")
    return Declared(made, name) if made else None


def member(node: Node, kind: str) -> Declared | None:
    """A field of a class or an object that holds a function."""
    made = valued(follow(node, "value"), kind)
    name = text(follow(node, "name|property|key")).strip("'\"")
    return Declared(made, name) if made else None


def default(node: Node, kind: str) -> Declared | None:
    """What a module exports without a name."""
    value = follow(node, "value")
    named = value is not None and follow(value, "name") is not None
    made = valued(value, kind)
    return Declared(made, "default") if made and not named else None


def called(node: Node, kind: str) -> Declared | None:
    """A test: `it("adds", () =>`."""
    name = follow(node, "arguments/string/string_fragment")
    if name is None or word(follow(node, "function")) not in TESTS:
        return None
    return Declared(kind, text(name))


def quoted(node: Node, kind: str) -> Declared:
    """What may have a string for a name: a module, a method."""
    return Declared(kind, text(follow(node, "name")).strip("'\""))


SCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "class": "class",
    "method_definition": "method",
    "variable_declarator": "function",
    "assignment_expression": "function",
    "pair": "function",
    "export_statement": "function",
    "call_expression": "test",
}
NAMES = {
    "method_definition": quoted,
    "variable_declarator": variable,
    "assignment_expression": assigned,
    "pair": member,
    "export_statement": default,
    "call_expression": called,
}
WRAPPERS = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"}
)
TYPED = SCRIPT | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "namespace",
    "module": "module",
    "function_signature": "function",
    "method_signature": "method",
    "abstract_method_signature": "method",
    "public_field_definition": "method",
}
TYPED_NAMES = NAMES | {"public_field_definition": member, "module": quoted}
OVERLOADS = frozenset(
    {"function_signature", "function_declaration", "method_signature", "method_definition"}
)
ATTACHED = frozenset({"comment", "decorator"})
ITEM = COMMENTS + (
    rb"((export |default |declare |abstract |async )*"
    rb"(function\b|class |const |let |var |interface |type \w|enum |namespace |@\w)"
    rb"|import |(?!(as|in|instanceof|of|satisfies)\b)[\w.$]+(\(| = ))"
)

ROWS = (
    Language(
        "javascript",
        suffixes=(".js", ".mjs", ".cjs", ".jsx"),
        files=("Jakefile",),
        interpreters=("node", "nodejs", "bun", "qjs"),
        item=ITEM,
        kinds=SCRIPT | {"field_definition": "method"},
        names=NAMES | {"field_definition": member},
        wrappers=WRAPPERS,
        attached=ATTACHED,
    ),
    Language(
        "typescript",
        suffixes=(".ts", ".mts", ".cts"),
        interpreters=("deno", "ts-node", "tsx"),
        item=ITEM,
        kinds=TYPED,
        names=TYPED_NAMES,
        wrappers=WRAPPERS | {"ambient_declaration"},
        attached=ATTACHED,
        clauses=OVERLOADS,
    ),
    Language(
        "tsx",
        suffixes=(".tsx",),
        item=ITEM,
        kinds=TYPED,
        names=TYPED_NAMES,
        wrappers=WRAPPERS | {"ambient_declaration"},
        attached=ATTACHED,
        clauses=OVERLOADS,
    ),
)
