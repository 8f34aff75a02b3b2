"""The languages whose syntax is known: one row each, by family in `splitters.rows`."""

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
