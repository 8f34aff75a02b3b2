#!/usr/bin/env python3
"""A shelf of jars: what is in them, and until when it keeps.

def not_a_function(): this is text.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache

LIMIT = 12
type Weight = int | float


class ShelfFull(Exception):
    """No room for one more jar."""


@dataclass(frozen=True)
class Jar:
    """One jar."""

    label: str
    grams: Weight = 0

    @property
    def empty(self) -> bool:
        return not self.grams

    # Two comments stand above this method,
    # of which both belong to it.
    @classmethod
    def parse(cls, text: str) -> Jar:
        """Read `label: grams`.

        class Fake:
            def nothing(self): ...
        """
        label, _, grams = text.partition(":")
        return cls(label.strip(), float(grams or 0))

    class Lid:
        colour = "}"

        def open(self):
            def turn(times):
                return times * "def turn(): "

            return turn(3)


# A remark that stands alone.

async def fill(
    shelf: list[Jar],
    jars: list[str],
    *,
    limit: int = LIMIT,
) -> None:
    for text in jars:
        if len(shelf) == limit:
            raise ShelfFull(text)
        shelf.append(Jar.parse(text))
        await asyncio.sleep(0)


if LIMIT > 10:
    @cache
    def largest() -> str:
        return "'''def quoted(): pass'''"
else:
    def largest() -> str:
        return ""


class Épicerie: pass
