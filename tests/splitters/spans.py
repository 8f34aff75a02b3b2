"""What a reader would not cut, found without `splitters`: functions, strings, fences, members...

Python's own `ast` and `tokenize` for Python, small scanners for JSON, Markdown and the strings and
comments of C, Go and Java, PyYAML for YAML, and the grammars' queries for what is left.
"""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import tree_sitter_language_pack as grammars
import yaml
from tree_sitter import Parser, Query, QueryCursor

LINE = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that a cut strictly between `start` and `end` would tear."""

    start: int
    end: int
    what: str
    """`function`, `string`, `comment`, `fence`, `member`, `section`; `description`: what stands
    above a declaration, with the beginning of its first line."""
    whole: int = 0
    """Of a `description`: where the declaration ends."""


def spans(data: bytes, language: str) -> list[Span]:
    """All that should not be cut; none of a language that is not known here."""
    find = FINDERS.get(language)
    return list(find(data)) if find else []


def line_starts(data: bytes) -> list[int]:
    """Offsets of lines; CR, LF and CRLF end one."""
    return [0, *(found.end() for found in LINE.finditer(data))]


def _behind_blanks(data: bytes, start: int) -> int:
    """Where the text of a line starts."""
    while data[start : start + 1] in (b" ", b"\t", b"\f"):
        start += 1
    return start


# Python


def _python(data: bytes) -> Iterator[Span]:
    try:
        data.decode("utf-8-sig")
        tree = ast.parse(data)
        if re.search(rb"\r(?!\n)|\f\n", data):
            raise ValueError("tokenize and ast count these lines differently")
        tokens = list(_python_tokens(data))
    except (SyntaxError, ValueError, tokenize.TokenError):
        yield from _by_grammar("python")(data)
        return
    yield from tokens
    starts = [0, *(found.end() for found in re.finditer(rb"\n", data))]
    declared = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        start = _behind_blanks(data, starts[line - 1])
        end = starts[node.end_lineno - 1] + node.end_col_offset
        declared.append((start, end))
        if not isinstance(node, ast.ClassDef):
            yield Span(start, end, "function")
        yield Span(start, _behind_blanks(data, starts[node.lineno - 1]) + 1, "description")
        if ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            yield Span(start, starts[said.end_lineno - 1] + said.end_col_offset, "description")
    yield from _described(data, [one for one in tokens if one.what == "comment"], declared)


def _python_tokens(data: bytes) -> Iterator[Span]:
    lines = data.split(b"\n")
    starts = [0, *(found.end() for found in re.finditer(rb"\n", data))]
    opened: list[int] = []

    def place(row: int, column: int) -> int:
        line = lines[row - 1]
        mark = 3 if row == 1 and data.startswith(b"\xef\xbb\xbf") else 0
        if not line.isascii():
            column = len(line[mark:].decode()[:column].encode())
        return starts[row - 1] + mark + column

    for token in tokenize.tokenize(io.BytesIO(data).readline):
        name = tokenize.tok_name[token.type]
        start, end = token.start, token.end
        if name.endswith("STRING_START"):
            opened.append(place(*start))
        elif name.endswith("STRING_END"):
            yield Span(opened.pop(), place(*end), "string")
        elif name == "STRING":
            yield Span(place(*start), place(*end), "string")
        elif name == "COMMENT":
            yield Span(place(*start), place(*end), "comment")


# By the grammars' queries


@dataclass(frozen=True, slots=True)
class Kinds:
    """Node types of a grammar."""

    functions: str
    strings: str
    comments: str
    attached: str = ""
    """What stands above a declaration as its sibling, other than comments."""
    leading: str = ""
    """What is a declaration's first part: all of it and what follows belong together."""
    declarations: str = ""


_SCRIPT = Kinds(
    "function_declaration generator_function_declaration method_definition arrow_function "
    "function_expression generator_function",
    "string template_string regex",
    "comment",
    leading="decorator",
    declarations="function_declaration class_declaration method_definition lexical_declaration "
    "variable_declaration export_statement",
)
GRAMMARS = {
    "python": Kinds(
        "function_definition",
        "string",
        "comment",
        attached="decorator",
        declarations="function_definition class_definition",
    ),
    "c": Kinds(
        "function_definition",
        "string_literal char_literal",
        "comment",
        declarations="function_definition type_definition declaration struct_specifier "
        "enum_specifier union_specifier field_declaration preproc_function_def preproc_def",
    ),
    "cpp": Kinds(
        "function_definition lambda_expression",
        "string_literal raw_string_literal char_literal",
        "comment",
        declarations="function_definition type_definition declaration struct_specifier "
        "class_specifier enum_specifier field_declaration template_declaration",
    ),
    "go": Kinds(
        "function_declaration method_declaration func_literal",
        "interpreted_string_literal raw_string_literal rune_literal",
        "comment",
        declarations="function_declaration method_declaration type_declaration "
        "const_declaration var_declaration const_spec var_spec field_declaration",
    ),
    "java": Kinds(
        "method_declaration constructor_declaration lambda_expression",
        "string_literal character_literal",
        "line_comment block_comment",
        leading="modifiers",
        declarations="method_declaration constructor_declaration class_declaration "
        "interface_declaration enum_declaration field_declaration enum_constant",
    ),
    "javascript": _SCRIPT,
    "typescript": Kinds(
        _SCRIPT.functions,
        _SCRIPT.strings,
        _SCRIPT.comments,
        leading="decorator",
        declarations=f"{_SCRIPT.declarations} interface_declaration type_alias_declaration "
        "enum_declaration method_signature property_signature function_signature "
        "public_field_definition abstract_class_declaration",
    ),
    "rust": Kinds(
        "function_item closure_expression",
        "string_literal raw_string_literal char_literal",
        "line_comment block_comment",
        attached="attribute_item",
        declarations="function_item struct_item enum_item impl_item trait_item mod_item "
        "const_item static_item type_item macro_definition field_declaration enum_variant "
        "function_signature_item",
    ),
}


def _by_grammar(language: str) -> Callable[[bytes], Iterator[Span]]:
    kinds = GRAMMARS[language]

    def find(data: bytes) -> Iterator[Span]:
        found = _captured(data, language, kinds)
        comments = [Span(start, end, "comment") for start, end in found.get("comments", ())]
        yield from comments
        yield from (Span(start, end, "function") for start, end in found.get("functions", ()))
        yield from (Span(start, end, "string") for start, end in found.get("strings", ()))
        for start, end in found.get("leading", ()):
            yield Span(start, end + 2, "description")
        above = [Span(start, end, "attached") for start, end in found.get("attached", ())]
        yield from _described(data, comments + above, found.get("declarations", ()))

    return find


def _captured(data: bytes, language: str, kinds: Kinds) -> dict[str, list[tuple[int, int]]]:
    patterns = (
        f"({kind}) @{role}"
        for role in ("functions", "strings", "comments", "attached", "leading", "declarations")
        for kind in getattr(kinds, role).split()
    )
    grammar = grammars.get_language(language)
    root = Parser(grammar).parse(data).root_node
    captured = QueryCursor(Query(grammar, "\n".join(patterns))).captures(root)
    return {
        role: [
            (node.start_byte, len(data[: node.end_byte].rstrip(b"\r\n")))
            if data[node.end_byte - 1 : node.end_byte] == b"\n"
            else (node.start_byte, node.end_byte)
            for node in nodes
        ]
        for role, nodes in captured.items()
    }


def _described(
    data: bytes, above: Iterable[Span], declared: Iterable[tuple[int, int]]
) -> Iterator[Span]:
    """Comments and attributes on lines of their own, each directly above the next, above a line
    on which a declaration starts."""
    starts = line_starts(data)

    def line(at: int) -> int:
        return bisect_right(starts, at) - 1

    ending: dict[int, int] = {}
    for one in above:
        first = starts[line(one.start)]
        if not data[first : one.start].strip():
            ending[line(one.end - 1)] = line(one.start)
    for at, whole in declared:
        own = top = line(at)
        while top - 1 in ending:
            top = ending[top - 1]
        if top < own and not data[starts[own] : at].strip():
            yield Span(_behind_blanks(data, starts[top]), at + 1, "description", whole)


# Strings and comments of C, Go and Java, without a grammar

_COMMENT = rb"(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)"
_STRING = rb'"(?:[^"\\\n]|\\.|\\\n)*"' + rb"|'(?:[^'\\\n]|\\[^\n]){1,10}'"
LEXERS = {
    "c": re.compile(_COMMENT + rb"|(?P<string>" + _STRING + rb")", re.DOTALL),
    "go": re.compile(
        rb"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>`[^`]*`|" + _STRING + rb")", re.DOTALL
    ),
    "java": re.compile(
        rb'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"""(?:[^\\]|\\.)*?"""|' + _STRING + rb")",
        re.DOTALL,
    ),
}


def _lexed(language: str) -> Callable[[bytes], Iterator[Span]]:
    """Functions and descriptions by the grammar, strings and comments by a scanner."""

    def find(data: bytes) -> Iterator[Span]:
        for one in _by_grammar(language)(data):
            if one.what not in ("string", "comment"):
                yield one
        for found in LEXERS[language].finditer(data):
            yield Span(found.start(), found.end(), found.lastgroup or "")

    return find


# JSON, YAML, Markdown

_JSON = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


def _json(data: bytes) -> Iterator[Span]:
    """Strings, and each object or list with the name it has in the object around it."""
    opened: list[int] = []
    last = key = None
    for found in _JSON.finditer(data):
        sign = found[0]
        if sign[:1] == b'"':
            yield Span(found.start(), found.end(), "string")
            last = found.start()
        elif sign == b":":
            key = last
        elif sign in (b"{", b"["):
            opened.append(found.start() if key is None else key)
            key = None
        elif sign == b",":
            key = None
        elif opened:
            yield Span(opened.pop(), found.end(), "member")


def _yaml(data: bytes) -> Iterator[Span]:
    """Items of lists and entries of mappings; a comment behind an item is not part of it."""
    text = data.decode()
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + len(character.encode()))

    def spanned(start: yaml.Mark, end: yaml.Mark) -> Span:
        held = text[start.index : end.index].splitlines(keepends=True)
        while held and (not held[-1].strip() or held[-1].lstrip().startswith("#")):
            held.pop()
        size = len("".join(held).rstrip())
        return Span(offsets[start.index], offsets[start.index + size], "member")

    def within(node: yaml.Node) -> Iterator[Span]:
        if isinstance(node, yaml.ScalarNode):
            if node.style:
                yield Span(offsets[node.start_mark.index], offsets[node.end_mark.index], "string")
            return
        for one in node.value:
            parts = one if isinstance(one, tuple) else (one,)
            yield spanned(parts[0].start_mark, parts[-1].end_mark)
            for part in parts:
                yield from within(part)

    for document in yaml.compose_all(text):
        yield from within(document)


_FENCE = re.compile(rb"[ \t>]*(?:[-*+] +|\d+[.)] +)*(?P<mark>`{3,}|~{3,})(?P<rest>[^\r\n]*)")
_HEADING = re.compile(rb" {0,3}(#{1,6})[ \t]")


def _markdown(data: bytes) -> Iterator[Span]:
    """Fences; headings with the next line that says something; the text up to the next heading."""
    starts = line_starts(data)
    fence: tuple[int, bytes] | None = None
    heading: tuple[int, int] | None = None
    section = 0
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        line = data[start:end]
        mark, title = _FENCE.match(line), _HEADING.match(line)
        if heading is not None and line.strip():
            if not title or len(title[1]) > heading[1]:
                yield Span(heading[0], start + 1, "description")
            heading = None
        if fence is not None:
            closes = mark and mark["mark"].startswith(fence[1]) and not mark["rest"].strip()
            if closes:
                yield Span(fence[0], start + len(line.rstrip()), "fence")
                fence = None
        elif mark and b"`" not in mark["rest"]:
            fence = start, mark["mark"]
        elif title:
            yield Span(section, start, "section")
            heading, section = (start, len(title[1])), start
    yield Span(section, len(data), "section")


FINDERS: dict[str, Callable[[bytes], Iterator[Span]]] = {
    "python": _python,
    "json": _json,
    "yaml": _yaml,
    "markdown": _markdown,
    **{language: _lexed(language) for language in LEXERS},
    **{language: _by_grammar(language) for language in ("cpp", "javascript", "typescript", "rust")},
}
