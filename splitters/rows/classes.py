"""Languages of classes: Java, C#, Kotlin, Swift, Scala."""

import re

from splitters.declared import first, follow, text, within
from splitters.language import Declared, Language
from splitters.syntax import Node


def csharp_namespace(node: Node, kind: str) -> Declared:
    """A namespace of the whole file."""
    return Declared(kind, text(follow(node, "name")), heading="1")


def csharp_member(node: Node, kind: str) -> Declared:
    """A member whose name is a sign: `~C`, `operator +`, `this[]`, `IShape.Area`."""
    if node.type == "destructor_declaration":
        return Declared(kind, "~" + text(follow(node, "name")))
    if node.type == "indexer_declaration":
        return Declared(kind, "this[]")
    if node.type in {"operator_declaration", "conversion_operator_declaration"}:
        sign = "operator" if node.type == "operator_declaration" else "type"
        return Declared(kind, "operator " + text(follow(node, sign)))
    explicit = text(first(node, "explicit_interface_specifier"))
    return Declared(kind, explicit + text(follow(node, "name")))


def kotlin_class(node: Node, kind: str) -> Declared:
    """A class, an interface or an enumeration."""
    word = first(node, "interface", "enum")
    return Declared(word.type if word else kind, text(first(node, "type_identifier")))


def kotlin_extension(node: Node, kind: str) -> Declared | None:
    """A function, or a property of the file, with the type it extends."""
    if kind == "property" and not within(node, "source_file"):
        return None
    of = re.sub(r"<.*", "", text(follow(node, "receiver")))
    name = text(follow(node, "simple_identifier|variable_declaration/simple_identifier"))
    return Declared(kind, ".".join(filter(None, (of, name))))


def kotlin_companion(node: Node, kind: str) -> Declared:
    """A companion object, which needs no name."""
    return Declared(kind, text(first(node, "type_identifier")) or "Companion")


def swift_type(node: Node, kind: str) -> Declared:
    """A class, structure, actor, enumeration or extension."""
    return Declared(text(follow(node, "declaration_kind")) or kind, text(follow(node, "name")))


def swift_value(node: Node, kind: str) -> Declared | None:
    """A value of the file."""
    return Declared(kind, text(follow(node, "name"))) if within(node, "source_file") else None


def scala_extension(node: Node, kind: str) -> Declared:
    """An extension by the type that it extends."""
    of = follow(node, "parameters/parameter/type|parameters/class_parameter/type")
    return Declared(kind, re.sub(r"\[.*", "", text(of)))


ROWS = (
    Language(
        "java",
        suffixes=(".java",),
        kinds={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "annotation_type_declaration": "annotation",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
            "compact_constructor_declaration": "constructor",
        },
        attached=frozenset({"line_comment", "block_comment"}),
    ),
    Language(
        "csharp",
        suffixes=(".cs", ".csx"),
        interpreters=("dotnet-script",),
        aliases=("c#",),
        kinds={
            "namespace_declaration": "namespace",
            "file_scoped_namespace_declaration": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "struct_declaration": "struct",
            "record_declaration": "record",
            "enum_declaration": "enum",
            "delegate_declaration": "delegate",
            "method_declaration": "method",
            "constructor_declaration": "constructor",
            "destructor_declaration": "method",
            "operator_declaration": "method",
            "conversion_operator_declaration": "method",
            "indexer_declaration": "property",
            "property_declaration": "property",
        },
        names={
            "file_scoped_namespace_declaration": csharp_namespace,
            "method_declaration": csharp_member,
            "destructor_declaration": csharp_member,
            "operator_declaration": csharp_member,
            "conversion_operator_declaration": csharp_member,
            "indexer_declaration": csharp_member,
            "property_declaration": csharp_member,
        },
        attached=frozenset({"comment"}),
    ),
    Language(
        "kotlin",
        suffixes=(".kt", ".kts"),
        interpreters=("kotlin",),
        kinds={
            "class_declaration": "class",
            "object_declaration": "object",
            "companion_object": "object",
            "function_declaration": "function",
            "secondary_constructor": "constructor",
            "property_declaration": "property",
            "type_alias": "type",
        },
        names={
            "class_declaration": kotlin_class,
            "object_declaration": "type_identifier",
            "companion_object": kotlin_companion,
            "function_declaration": kotlin_extension,
            "property_declaration": kotlin_extension,
            "secondary_constructor": lambda node, kind: Declared(kind, "constructor"),
            "type_alias": "type_identifier",
        },
        attached=frozenset({"line_comment", "multiline_comment"}),
        trails=(b"//", b"/*", b"*/"),
    ),
    Language(
        "swift",
        suffixes=(".swift",),
        interpreters=("swift",),
        kinds={
            "class_declaration": "class",
            "protocol_declaration": "protocol",
            "function_declaration": "function",
            "protocol_function_declaration": "method",
            "init_declaration": "constructor",
            "deinit_declaration": "method",
            "subscript_declaration": "method",
            "typealias_declaration": "type",
            "property_declaration": "property",
        },
        names={
            "class_declaration": swift_type,
            "property_declaration": swift_value,
            "deinit_declaration": lambda node, kind: Declared(kind, "deinit"),
            "subscript_declaration": lambda node, kind: Declared(kind, "subscript"),
        },
        attached=frozenset({"comment", "multiline_comment"}),
    ),
    Language(
        "scala",
        suffixes=(".scala", ".sc", ".sbt"),
        interpreters=("scala", "scala-cli"),
        kinds={
            "object_definition": "object",
            "package_object": "object",
            "class_definition": "class",
            "trait_definition": "trait",
            "enum_definition": "enum",
            "function_definition": "function",
            "function_declaration": "function",
            "given_definition": "given",
            "type_definition": "type",
            "extension_definition": "extension",
        },
        names={"extension_definition": scala_extension},
        attached=frozenset({"comment", "block_comment"}),
        trails=(b"//", b"/*", b"*/"),
    ),
)
