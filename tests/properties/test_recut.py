"""Pieces with new contents are the file with those bytes replaced, and the cut of it is true."""

from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.parser import Parser
from orchestrator.tools.desk import Cut
from orchestrator.tools.recut import recut

line = st.sampled_from(
    [
        b"def f():\n",
        b"    return 1\n",
        b"class A:\n",
        b"\n",
        b"x = '''\n",
        b"# \xc3\xa9\n",
        b"a\r\n",
    ]
)
contents = st.lists(line, max_size=30).map(b"".join) | st.binary(max_size=40)


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(contents, st.integers(2, 60), st.data())
def test_a_file_put_together_again_is_the_file_edited_directly(parser, data, target, draw):
    parted = parser.split(data, "a.py", target=target)
    before = parted.pieces.pieces
    numbers = st.sampled_from([piece.number for piece in before])
    changed = draw.draw(st.dictionaries(numbers, contents, max_size=3))
    cut = Cut(sha256(data).hexdigest(), parted.pieces.language, target, before)
    result = recut(parser, "a.py", cut, data, changed)

    direct = b"".join(changed.get(p.number, data[p.start : p.end]) for p in before)
    assert result.content == direct
    assert result.cut.sha256 == sha256(direct).hexdigest()
    after = result.cut.pieces
    assert [piece.number for piece in after] == list(range(1, len(after) + 1))
    assert [piece.start for piece in after] == [0, *(piece.end for piece in after[:-1])]
    assert after[-1].end == len(direct)
    for piece in after:
        assert piece.size <= target
        assert piece.sha256 == sha256(direct[piece.start : piece.end]).hexdigest()
    kept = {p.sha256 for p in before if p.number not in changed and p.size}
    assert kept <= {piece.sha256 for piece in after}


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(line, max_size=30).map(b"".join), st.integers(20, 60), st.data())
def test_lines_are_counted_as_an_editor_counts_them(parser, data, target, draw):
    parted = parser.split(data, "a.py", target=target)
    before = parted.pieces.pieces
    number = draw.draw(st.sampled_from([piece.number for piece in before]))
    new = draw.draw(st.lists(line, max_size=9).map(b"".join))
    cut = Cut("", parted.pieces.language, target, before)
    result = recut(parser, "a.py", cut, data, {number: new})
    for piece in result.cut.pieces:
        if piece.size:
            assert piece.first_line == 1 + result.content.count(b"\n", 0, piece.start)
