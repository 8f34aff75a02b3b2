"""Which language a file is in: by its name, then its `#!` line, then its content."""

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

from splitters.language import Language
from splitters.source import wide
from splitters.table import BY_NAME, LANGUAGES

HEAD = 4_096
"""Bytes that are looked at."""
TEXTS = frozenset({".txt", ".text", ".log"})
"""Names that say that there is no language, whatever the content looks like."""
SHEBANG = re.compile(r"#![ \t]*(\S+)([^\r\n]*)")
VERSION = re.compile(r"[-.\d]+$")
CPP = re.compile(
    r"(?m)^\s*(?:class\s+\w+[^;]*$|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)"
    r"\s*:|#\s*include\s*<(?:c?\w+)>)|\w::\w|\bconstexpr\b|\bnullptr\b|\boperator\s*[^\w\s]"
)
MODELINES = (
    re.compile(r"\bvim?:[^\n]*?\b(?:ft|filetype|syntax)=([\w+#]+)"),
    re.compile(r"-\*-[^\n]*?\bmode:\s*([\w+#-]+?)\s*(?:;|-\*-)", re.IGNORECASE),
    re.compile(r"-\*-\s*([\w+#-]+?)\s*-\*-"),
)
JSON_VALUE = r'(?:\{\s*["}]|"[^"\n]*"\s*[,\]]|\[|-?\d[\d.eE+-]*\s*,|(?:true|false|null)\s*,|\])'
CONTENTS = (
    (re.compile(r"<\?php\b", re.IGNORECASE), "php"),
    (re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE), "html"),
    (re.compile(r"<\?xml\b|<svg\b"), "xml"),
    (re.compile(r'\{\s*"(?:[^"\\\n]|\\.)*"\s*:|\{\s*\}\s*$|\[\s*' + JSON_VALUE), "json"),
    (re.compile(r"%YAML\b"), "yaml"),
)
"""What a file of a language begins with."""


def detect(path: str, data: bytes = b"") -> Language | None:
    """The file's language, as `split` and `outline` take it; None: none of the table's, or no text.

    Nothing is read from disk: `path` is a name. Of the content the first `HEAD` bytes count;
    without them only the name does.
    """
    head = data[:HEAD]
    encoding = wide(head)
    if b"\0" in head and not encoding:
        return None
    name = PurePath(path).name
    text = head.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")
    row = _named(name)
    if row is not None:
        return _instead(name, row, text)
    if PurePath(name).suffix.lower() in TEXTS:
        return None
    return _started(text) or _contained(text)


def _named(name: str) -> Language | None:
    suffix = PurePath(name).suffix.lower()
    by_file = (row for row in LANGUAGES if any(fnmatchcase(name, file) for file in row.files))
    by_suffix = (row for row in LANGUAGES if suffix and suffix in row.suffixes)
    return next(by_file, None) or next(by_suffix, None)


def _instead(name: str, row: Language, text: str) -> Language:
    """The language that a name stands for as well, where the content shows it."""
    if name.lower().endswith(".h") and CPP.search(text):
        return BY_NAME["cpp"]
    if row.name == "typescript" and text.startswith("<?xml"):
        return BY_NAME["xml"]
    return row


def _started(text: str) -> Language | None:
    """By the program that the first line names."""
    found = SHEBANG.match(text)
    if found is None:
        return None
    words = [found[1], *found[2].split()]
    if PurePath(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = VERSION.sub("", PurePath(words[0]).name) if words else ""
    return next((row for row in LANGUAGES if program and program in row.interpreters), None)


def _contained(text: str) -> Language | None:
    """By a line for an editor, or by what the text begins with."""
    lines = "\n".join(text.splitlines()[:5])
    for modeline in MODELINES:
        if (said := modeline.search(lines)) and (row := BY_NAME.get(said[1].lower())):
            return row
    start = text.lstrip()
    return next((BY_NAME[name] for begun, name in CONTENTS if begun.match(start)), None)
