"""The languages whose syntax is known: one row each, by family in `splitters.rows`."""

import difflib

from splitters.language import Language
from splitters.rows import (
    builds,
    classes,
    documents,
    functional,
    markup,
    members,
    schemas,
    scripts,
    systems,
    typescript,
)

LANGUAGES: tuple[Language, ...] = (
    *scripts.ROWS,
    *typescript.ROWS,
    *systems.ROWS,
    *classes.ROWS,
    *functional.ROWS,
    *markup.ROWS,
    *members.ROWS,
    *schemas.ROWS,
    *builds.ROWS,
    *documents.ROWS,
)

BY_NAME = {
    **{suffix.removeprefix("."): row for row in LANGUAGES for suffix in row.suffixes},
    **{alias: row for row in LANGUAGES for alias in row.aliases},
    **{row.name: row for row in LANGUAGES},
}
"""The rows by what a person may call them: suffixes without the dot, aliases, names."""
TEXT = Language("text")
"""What is in none of them."""


class UnknownLanguageError(ValueError):
    """No row of the table has this name."""


def known(language: Language | str | None) -> Language:
    """The row itself, or that of a name, an alias or a suffix; raises UnknownLanguageError."""
    if isinstance(language, Language):
        return language
    if language in (None, "text", "txt"):
        return TEXT
    if row := BY_NAME.get((language or "").lower().removeprefix(".")):
        return row
    names = ["text", *sorted({row.name for row in BY_NAME.values()})]
    near = difflib.get_close_matches(str(language).lower(), names, n=1, cutoff=0.75)
    rest = f": did you mean {near[0]}?" if near else f"; known are {', '.join(names)}."
    raise UnknownLanguageError(f"No language is called {language}{rest}")
