"""The languages whose syntax is known: one row each."""

from splitters.language import Language

LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        suffixes=(".py", ".pyi"),
        interpreters=("python",),
        aliases=("py",),
        kinds={"function_definition": "function", "class_definition": "class"},
        attached=frozenset({"comment", "decorator"}),
    ),
    Language(
        "c",
        suffixes=(".c",),
        kinds={
            "function_definition": "function",
            "struct_specifier": "struct",
            "enum_specifier": "enum",
        },
        attached=frozenset({"comment"}),
    ),
    Language("json", suffixes=(".json",), kinds={"pair": "member"}),
    Language(
        "markdown",
        suffixes=(".md", ".markdown"),
        aliases=("md",),
        kinds={"section": "section"},
    ),
)

BY_NAME = {name: row for row in LANGUAGES for name in (row.name, *row.aliases)}
"""The rows by their names and aliases."""
