import re
from datetime import date
from decimal import Decimal

import pytest

from orchestrator.pricing import Usage, cost, table

DAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("anthropic:claude-sonnet-4-6", Usage(1_000_000, 0), 3.0),
        ("anthropic:claude-sonnet-4-6", Usage(0, 1_000_000), 15.0),
        ("anthropic:claude-sonnet-4-6", Usage(1_000_000, 0, 1_000_000, 0), 0.3),
        ("anthropic:claude-sonnet-4-6", Usage(1_000_000, 0, 0, 1_000_000), 3.75),
        ("anthropic:claude-sonnet-4-6", Usage(1000, 100, 600, 300), 0.003105),
        ("openai:gpt-5.5", Usage(1000, 100, 600, 300), 0.0053),
        ("gemini:gemini-2.5-flash", Usage(3, 7), 0.0000184),
    ],
)
def test_a_cost_is_exact_with_cached_tokens(model, usage, dollars):
    assert cost(model, usage, DAY) == dollars


@pytest.mark.parametrize(("tokens", "dollars"), [(200_000, 0.25), (200_001, 0.5000025)])
def test_a_long_request_has_its_own_price(tokens, dollars):
    assert cost("gemini:gemini-2.5-pro", Usage(tokens, 0), DAY) == dollars


@pytest.mark.parametrize("suffix", ["-20250929", "-2026-04-23"])
def test_a_dated_model_costs_what_the_model_costs(suffix):
    usage = Usage(1000, 10)
    assert cost(f"openai:gpt-5.5{suffix}", usage, DAY) == cost("openai:gpt-5.5", usage, DAY)


@pytest.mark.parametrize(
    "model",
    ["ollama:qwen3", "openai:gpt-5.5-turbo", "openai:gpt", "gpt-5.5", "openai-chat:gpt-5.5"],
)
def test_an_unknown_price_is_unknown(model):
    assert cost(model, Usage(1000, 10), DAY) is None


def test_a_script_is_free():
    assert cost("scripted:demo", Usage(1000, 10)) == 0.0


@pytest.mark.parametrize(("day", "dollars"), [(date(2026, 11, 30), 2.0), (date(2026, 12, 1), 4.0)])
def test_an_announced_price_begins_on_its_day(day, dollars):
    assert cost("gemini:gemini-4-argon", Usage(1_000_000, 0), day) == dollars


def test_every_price_is_sound():
    for price in table().prices:
        assert re.fullmatch(r"(anthropic|openai|gemini):[a-z0-9.-]+", price.model)
        assert Decimal(0) < price.input < price.output < 1000
        assert (price.cache_read or 0) < price.input
        assert price.long is None or price.long.input > price.input


def test_no_price_is_listed_twice():
    rows = [(price.model, price.start) for price in table().prices]
    assert len(rows) == len(set(rows))
