"""Sums of what the work cost, and the first limit they reach."""

import time

import pytest

from orchestrator.agent.spent import Spent
from orchestrator.pricing import Usage
from orchestrator.task import Limits

LATER = time.monotonic() + 3600
LIMITS = Limits(input_tokens=100, cost=1.0)


def test_sums_add_up():
    spent = Spent(LATER).plus(Usage(10, 5), 0.25).plus(Usage(20, 5), 0.5)
    assert spent == Spent(LATER, input_tokens=30, cost=0.75)


def test_one_unknown_price_makes_the_sum_unknown():
    spent = Spent(LATER).plus(Usage(1, 1), None).plus(Usage(1, 1), 9.0)
    assert spent == Spent(LATER, input_tokens=2, cost=None)


@pytest.mark.parametrize(
    ("spent", "stop"),
    [
        (Spent(LATER, 99, 0.99), None),
        (Spent(LATER, 100, 0.0), "input_tokens"),
        (Spent(LATER, 0, 1.0), "cost"),
        (Spent(LATER, 0, None), None),
        (Spent(0.0), "time"),
    ],
)
def test_the_limit_that_is_used_up(spent, stop):
    assert spent.over(LIMITS) == stop


def test_no_cost_limit_is_never_reached():
    assert Spent(LATER, 0, 1e6).over(Limits(cost=None)) is None
