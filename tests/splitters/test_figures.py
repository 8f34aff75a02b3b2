"""Rows of figures are found as by one who reads every line, which takes many times as long."""

import time
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitters.figures import LEAST, ROW, Figures, figures

LINES = st.sampled_from(
    [b"\t1, 2, 3,\n", b"    -1.5,0x3, \r\n", b"\t1,\n"]
    + [b"  " + b"12, " * count + b"\n" for count in (600, 1600)]
)
OTHER = st.sampled_from([b"", b"x = [\n", b"]\n\n", b"\t'a',\n", b"1, 2\n"])
BUDGET = 5.0
"""Processor seconds on the slowest machine; a tenth of one on a usual one."""
TABLES = st.lists(st.tuples(LINES, st.integers(1, 400), OTHER), max_size=5)


def read_line_by_line(text: bytes) -> list[Figures]:
    found, at = [], 0
    for is_row, lines in groupby(text.splitlines(keepends=True), _is_row):
        starts = []
        for line in lines:
            starts.append(at)
            at += len(line)
        if not starts[0]:  # what begins a text follows no end of a line
            starts = starts[1:]
        if is_row and len(starts) > 2 and at - starts[2] >= LEAST:
            found.append(Figures(starts[1], starts[2], at))
    return found


def _is_row(line: bytes) -> bool:
    return ROW.match(b"\n" + line) is not None


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_rows_are_found_wherever_they_are(table):
    text = b"".join(line * count + after for line, count, after in table)
    assert list(figures(text, 0, len(text))) == read_line_by_line(text)


@pytest.mark.parametrize("line", [b"\t" + b"1, " * 700_000, b"var a=1;" * (1 << 22)])
def test_a_line_of_millions_of_bytes_is_read_once(line):
    text, before = b"[\n" + line + b"\n]\n", time.process_time()
    assert not list(figures(text, 0, len(text)))
    assert time.process_time() - before < BUDGET


def test_few_rows_are_not_worth_it():
    few, many = b"\t1,\n" * (LEAST // 4), b"\t1,\n" * (LEAST // 4 + 3)
    assert not list(figures(few, 0, len(few)))
    assert list(figures(many, 0, len(many))) == [Figures(8, 12, len(many))]
