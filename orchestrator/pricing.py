"""What tokens cost, from a dated table; an unknown price is an unknown cost, never zero."""

import re
import tomllib
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files

import msgspec

from sandbox.gateway.usage import Usage as Usage  # callers price what they name from here


class Rates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    """None: the price of input."""
    cache_write: Decimal | None = None
    """None: the price of input."""

    def cost(self, usage: Usage) -> Decimal:
        """US dollars, exact."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        dollars = (
            (usage.input_tokens - read - written) * self.input
            + read * (self.input if self.cache_read is None else self.cache_read)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + usage.output_tokens * self.output
        )
        return dollars / 1_000_000


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates of a whole request with more than `above` tokens of input."""

    above: int


class Price(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the table."""

    model: str
    """`provider:name`, without a dated suffix."""
    start: date = date.min
    """The day from which the row holds."""
    long: LongRates | None = None

    def cost_of(self, usage: Usage) -> Decimal:
        """US dollars of one request and its answer."""
        if self.long and usage.input_tokens > self.long.above:
            return self.long.cost(usage)
        return self.cost(usage)


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All prices we know, and the day they were collected."""

    date: date
    prices: tuple[Price, ...]


_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")
"""The suffix of a model's snapshot, which costs what the model costs: -20250929, -2026-04-23."""


def cost(model: str, usage: Usage, day: date | None = None) -> float | None:
    """US dollars of one answer of `model` (`provider:name`) on `day`, by default today.

    None when the price is unknown. A scripted model costs nothing.
    """
    if model.startswith("scripted:"):
        return 0.0
    day = day or date.today()
    price = _price(model, day) or _price(_DATED.sub("", model), day)
    return float(price.cost_of(usage)) if price else None


def unpriced(model: str, limit: float | None) -> str:
    """That a limit in US dollars cannot hold, because the price is unknown; else empty."""
    if limit is None or cost(model, Usage(0, 0)) is not None:
        return ""
    return (
        f"The price of {model} is unknown, so the cost limit of {limit:.2f} US dollars cannot hold;"
        " limits on tokens, turns and time do."
    )


@cache
def table() -> PriceTable:
    """The table that ships with the product."""
    text = files("orchestrator").joinpath("prices.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text, parse_float=Decimal), PriceTable)


def _price(model: str, day: date) -> Price | None:
    """The row of `model` that holds on `day`: the one that started last."""
    rows = (row for row in table().prices if row.model == model and row.start <= day)
    return max(rows, key=lambda row: row.start, default=None)
