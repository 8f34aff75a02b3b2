"""How many values a JSON text has, before it is parsed: each takes far more room than its text."""

import re
from itertools import islice

MOST = 1_000_000
"""Texts, brackets and commas of what is parsed. Each can take some 100 bytes then (measured: 32 MiB
of `[[]],` take 1,079 MiB), and no honest event or question has a tenth of these."""
_PART = re.compile(rb'[\[{,]|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def too_many(text: bytes, most: int = MOST) -> bool:
    """Whether these are more than anything honest has; a text counts as one, whatever is in it."""
    if sum(map(text.count, (b",", b"[", b"{", b'"'))) <= most:
        return False
    return next(islice(_PART.finditer(text), most, None), None) is not None
