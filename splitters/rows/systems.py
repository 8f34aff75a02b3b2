"""C, C++, Rust and Go."""

import re

from splitters.declared import first, follow, short, text, within
from splitters.language import Declared, Language
from splitters.syntax import Node

COMMENTS = rb"((//|/\*| \*).*\n)*"
"""Of C and its heirs, the lines above what they are about."""
OWN_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
        "operator_cast",
    }
)
AGGREGATES = ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier")
LOCAL = ("compound_statement", "for_statement", "for_range_loop", "if_statement")


def inmost(node: Node) -> Node | None:
    """What a declarator names, behind its stars, brackets and parameters."""
    at: Node | None = node
    while at is not None and at.type not in OWN_NAMES:
        inner = at.child_by_field_name("declarator")
        if inner is None and at.type.endswith("declarator"):
            inner = next((one for one in at.named_children if "declarator" in one.type), None)
            inner = inner or first(at, *OWN_NAMES)
        at = inner
    return at


def spelled(name: Node) -> str:
    """A name without template arguments and parameters: `V<T>::operator bool() const`."""
    plain = text(name)
    scope, operator, sign = plain.partition("operator")
    scope = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", scope))
    if not operator:
        return scope.replace(" ", "")
    return scope + operator + re.sub(r"^(\(\)|[^(]*).*", r"\1", sign).rstrip()


def function(node: Node, kind: str) -> Declared | None:
    """A function, by its declarator: `int *ns::Class::method(int)`.

    Where a macro stands in for one it is named whole: `TEST(Shelf, holds)`. A class behind a macro,
    `class API Shelf {`, looks like a function without parameters.
    """
    name = inmost(node)
    if name is None:
        return None
    plain, of = spelled(name), follow(node, "type")
    if of is None and plain.isupper():
        return Declared(kind, short(text(follow(node, "declarator"))))
    if of is not None and of.type in AGGREGATES and name == follow(node, "declarator"):
        return Declared(of.type.removesuffix("_specifier"), plain)
    return Declared("method" if "::" in plain else kind, plain)


def declaration(node: Node, kind: str) -> Declared | None:
    """A prototype, or a variable of the file that holds a table or a function."""
    if within(node, *LOCAL):
        return None
    at = node.child_by_field_name("declarator")
    while at is not None and at.type in {"pointer_declarator", "reference_declarator"}:
        at = at.child_by_field_name("declarator") or at.named_children[-1]
    if at is None:
        return None
    name = inmost(at)
    if at.type == "init_declarator" and name is not None:
        value = follow(at, "value")
        made = {"initializer_list": "variable", "lambda_expression": "function"}
        found = made.get(value.type) if value is not None else None
        return Declared(found, spelled(name)) if found else None
    if at.type == "operator_cast":
        return Declared(kind, spelled(at))
    pointer = first(at, "parenthesized_declarator") is not None
    if at.type != "function_declarator" or pointer or name is None:
        return None
    return Declared(kind, spelled(name))


def aggregate(node: Node, kind: str) -> Declared | None:
    """A struct, union, enum or class that is declared here, not only mentioned."""
    if follow(node, "body") is None or within(node, "type_definition"):
        return None
    name = follow(node, "name")
    return Declared(kind, spelled(name)) if name is not None else None


def typedef(node: Node, kind: str) -> Declared | None:
    """A type by its new name; a struct stays a struct."""
    name = inmost(node)
    of = first(node, *AGGREGATES)
    if of is not None and follow(of, "body") is not None:
        kind = of.type.removesuffix("_specifier")
    return Declared(kind, spelled(name)) if name is not None else None


def constant(node: Node, kind: str) -> Declared | None:
    """A macro with a value; an include guard has none."""
    return Declared(kind, text(follow(node, "name"))) if follow(node, "value") else None


def rust_impl(node: Node, kind: str) -> Declared | None:
    """`impl T`, or `impl Trait for T`: its functions are those of `T`."""
    of, trait = follow(node, "type"), follow(node, "trait")
    if of is None:
        return None
    own = re.sub(r"<.*", "", text(of).lstrip("&*").removeprefix("mut ").removeprefix("dyn "))
    return Declared(kind, f"{text(trait)} for {own}" if trait else own, scope=own)


def rust_module(node: Node, kind: str) -> Declared | None:
    """A module with its body; `mod name;` is a mention."""
    return Declared(kind, text(follow(node, "name"))) if follow(node, "body") else None


def go_method(node: Node, kind: str) -> Declared:
    """A method with its receiver: `func (t *T[K]) M` is `T.M`."""
    of = re.sub(r"\[.*", "", text(follow(node, "receiver/parameter_declaration/type")))
    return Declared(kind, f"{of.strip('*() ')}.{text(follow(node, 'name'))}")


def go_type(node: Node, kind: str) -> Declared:
    """A struct, an interface, or another type."""
    of = follow(node, "type")
    kinds = {"struct_type": "struct", "interface_type": "interface"}
    return Declared(kinds.get(of.type, kind) if of else kind, text(follow(node, "name")))


def go_value(node: Node, kind: str) -> Declared | None:
    """A constant or a variable of the package, with those declared beside it."""
    at = node.parent
    while at is not None and at.type in {"const_declaration", "var_declaration", "var_spec_list"}:
        at = at.parent
    local = at is not None and at.type not in {"source_file", "ERROR"}
    named = ", ".join(text(name) for name in node.children_by_field_name("name"))
    return None if local or named == "_" else Declared(kind, named)


C_KINDS = {
    "function_definition": "function",
    "declaration": "prototype",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
    "preproc_function_def": "macro",
    "preproc_def": "constant",
}
C_NAMES = {
    "function_definition": function,
    "declaration": declaration,
    "struct_specifier": aggregate,
    "union_specifier": aggregate,
    "enum_specifier": aggregate,
    "type_definition": typedef,
    "preproc_def": constant,
}

ROWS = (
    Language(
        "c",
        suffixes=(".c", ".h"),
        kinds=C_KINDS,
        names=C_NAMES,
        attached=frozenset({"comment"}),
    ),
    Language(
        "cpp",
        suffixes=(
            *(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp"),
            *(".inl", ".ino", ".cu", ".cuh"),
        ),
        aliases=("c++",),
        kinds=C_KINDS
        | {
            "namespace_definition": "namespace",
            "class_specifier": "class",
            "field_declaration": "method",
            "alias_declaration": "type",
            "concept_definition": "concept",
        },
        names=C_NAMES | {"class_specifier": aggregate, "field_declaration": declaration},
        wrappers=frozenset({"template_declaration"}),
        attached=frozenset({"comment"}),
        joint="::",
    ),
    Language(
        "rust",
        suffixes=(".rs",),
        interpreters=("rust-script",),
        item=COMMENTS + rb"(#\[|(pub(\(\w+\))? |unsafe |async )*"
        rb"(fn|impl|struct|enum|trait|mod|use|type|const|static|extern)\b|macro_rules!)",
        kinds={
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "module",
            "macro_definition": "macro",
            "const_item": "constant",
            "static_item": "constant",
            "type_item": "type",
        },
        names={"impl_item": rust_impl, "mod_item": rust_module},
        attached=frozenset({"line_comment", "block_comment", "attribute_item"}),
    ),
    Language(
        "go",
        suffixes=(".go",),
        item=COMMENTS + rb"(func|type|var|const) ",
        kinds={
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "type_alias": "type",
            "const_spec": "constant",
            "var_spec": "variable",
        },
        names={
            "method_declaration": go_method,
            "type_spec": go_type,
            "const_spec": go_value,
            "var_spec": go_value,
        },
        wrappers=frozenset({"type_declaration", "const_declaration", "var_declaration"}),
        attached=frozenset({"comment"}),
    ),
)
