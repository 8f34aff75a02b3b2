"""Text and JSON that strangers wrote, such as models: what is wrong with it is a ValueError."""

import json
import math
from typing import Any, NoReturn

_DEPTH = 32
"""Nested deeper than any honest value, and far from what the libraries that send it can walk."""


def parse(text: str) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The value of a JSON text.

    Raises ValueError for what is not JSON (RFC 8259), for a number beyond every range, and for
    more than 32 levels.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        value = None
    else:
        if _fits(value, _DEPTH):
            return value
    raise ValueError(f"nested deeper than {_DEPTH} levels")


def well_formed(text: str) -> str:
    """The text with every half of a surrogate pair, which JSON can say, replaced by `?`."""
    pairs = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return pairs.encode("utf-8", "replace").decode()


def all_well_formed(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The value of a JSON text with all its texts well formed, names included."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(name): all_well_formed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [all_well_formed(item) for item in value]
    return value


def _fits(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    items = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_fits(item, levels - 1) for item in items)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(number: str) -> NoReturn:
    raise ValueError(f"{number} is not JSON")
