"""What is nested too deep for its grammar, found out without it."""

import re
from typing import NamedTuple

MOST = 100
"""Columns at which blocks begin. The scanners of these grammars write what is open into 1,024
bytes, four for each, and do not look where these end: 255 quotes or lists inside each other, 510
bytes of Markdown, end the process. YAML has up to two at one column."""


class _Signs(NamedTuple):
    """How blocks begin in a language where columns and marks say it, not brackets."""

    lead: re.Pattern[bytes]
    """What a line begins with, as far as blocks can begin in it."""
    mark: re.Pattern[bytes]
    """What begins one there."""
    tab: int
    """Columns to the next stop."""
    deep: re.Pattern[bytes]
    """A lead so long that `MOST` columns may be in it."""


def _signs(lead: bytes, mark: bytes, tab: int) -> _Signs:
    long = b"\n[%b]{%d}" % (lead, MOST // tab)
    leads = re.compile(b"(?m)^[%b]*" % lead)
    return _Signs(leads, re.compile(mark), tab, re.compile(long))


_SIGNS = {
    "markdown": _signs(rb" \t>*+.)0-9-", rb">|(?:[-*+]|\d[.)])(?=[ \t]|$)", 4),
    # What a line goes on with may be a key.
    "yaml": _signs(rb" \t?:-", rb"[-?:](?=[ \t]|$)|$", 1),
}


def is_too_deep(text: bytes, grammar: str) -> bool:
    """Whether a parse might break this process."""
    signs = _SIGNS.get(grammar)
    if signs is None or not signs.deep.search(b"\n" + text):
        return False
    columns: set[int] = set()
    for lead in {one[0] for one in signs.lead.finditer(text)}:
        for mark in signs.mark.finditer(lead.expandtabs(signs.tab)):
            columns.add(mark.start())
            if len(columns) > MOST:
                return True
    return False
