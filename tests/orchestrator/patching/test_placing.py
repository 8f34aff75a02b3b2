"""Places are found as the plain way finds them, in a time that no file can raise."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.patching.hunks import Hunk, Line, PatchProblem
from orchestrator.patching.placing import placed
from orchestrator.patching.scopes import within
from orchestrator.patching.search import search

FEW = st.sampled_from([b"a", b"b"])
LINES = st.sampled_from([b"a\n", b" a\n", b"  b\n", b" }\n", b"}\n", b"\n", b"\tb\n"])


@given(st.lists(FEW, max_size=30), st.lists(FEW, min_size=1, max_size=6))
def test_lines_are_found_wherever_they_stand(lines, wanted):
    size = len(wanted)
    plain = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == wanted]
    assert search(lines, wanted) == plain


def block(file, at):
    """The lines of the block that a line opens."""
    depth, inner = indentation(file[at]), False
    for number in range(at + 1, len(file)):
        line = file[number].strip()
        if line and indentation(file[number]) <= depth and line != b"}":
            return range(at, number if inner else len(file))
        inner = inner or bool(line)
    return range(at, len(file))


def indentation(line):
    return len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())


@given(st.lists(LINES, max_size=14), st.sampled_from([b"a", b"b", b"}"]))
def test_a_block_ends_where_reading_on_would_end_it(file, anchor):
    found = within(file, [anchor])
    opened = [at for at, line in enumerate(file) if line.strip() == anchor]
    if not opened:
        assert found == anchor
    else:
        plain = {line for at in opened for line in block(file, at)}
        assert {line for line in range(len(file)) if line in found} == plain


@pytest.mark.parametrize(
    ("line", "context", "anchors"),
    [(b"\n", 10_000, ()), (b"}\n", 1, (b"}",)), (b"}\n", 1, (b"}", b"}"))],
)
def test_a_file_of_equal_lines_takes_no_longer(line, context, anchors):
    lines = (*[Line(" ", line)] * context, Line("+", b"x\n"))
    before = time.process_time()
    with pytest.raises(PatchProblem, match="add context until"):
        placed(line * 200_000, [Hunk(1, lines, anchors=anchors)])
    assert time.process_time() - before < 5
