"""Sums of what the work cost, the first limit they reach, and what is left."""

import time

import pytest

from orchestrator.spent import Spent
from orchestrator.task import Limits

LATER = time.monotonic() + 3600
LIMITS = Limits(turns=5, input_tokens=100, cost=1.0)


def spent(*answers, until=LATER, limits=LIMITS):
    sums = Spent(limits, until)
    for tokens, cost in answers:
        sums.count(tokens, cost)
    return sums


def test_sums_add_up():
    assert spent((10, 0.25), (20, 0.5)) == Spent(LIMITS, LATER, 2, 30, 0.75)


def test_one_unknown_price_makes_the_sum_unknown_and_the_others_count():
    sums = spent((1, None), (1, 9.0))
    assert (sums.cost, sums.known, sums.over()) == (None, 9.0, "cost")


def test_what_is_known_of_an_unknown_cost_counts():
    sums = spent((1, 0.25))
    sums.count(1, None, answers=2, known=0.75)
    assert (sums.cost, sums.known, sums.over()) == (None, 1.0, "cost")


@pytest.mark.parametrize(
    ("sums", "stop"),
    [
        (spent((99, 0.99)), None),
        (spent((100, 0.0)), "input_tokens"),
        (spent((0, 1.0)), "cost"),
        (spent((0, None)), None),
        (spent(until=0.0), "time"),
        (spent(*[(1, 0.0)] * 5), None),
    ],
)
def test_the_limit_that_is_used_up(sums, stop):
    assert sums.over() == stop


def test_no_cost_limit_is_never_reached():
    sums = spent((0, 1e6), limits=Limits(cost=None))
    assert (sums.over(), sums.left().cost) == (None, None)


def test_what_is_left_is_never_less_than_nothing():
    left = spent((30, 0.25), (30, 0.5)).left()
    assert (left.turns, left.input_tokens, left.cost) == (3, 40, 0.25)
    left = spent(*[(50, 0.25)] * 7, until=0.0).left()
    assert (left.turns, left.input_tokens, left.cost, left.seconds) == (0, 0, 0.0, 0.0)
