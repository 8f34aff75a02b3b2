"""For any bytes: a patch is the edit made directly, and what is refused changes nothing."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from orchestrator import pieces
from orchestrator.errors import OrchestratorError
from orchestrator.parser import Parser
from orchestrator.pieces import Cut
from orchestrator.rejoin import Rejoined, Way, rejoin

WORDS = st.one_of(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\x0c"]),
    st.sampled_from([b"def f():\n    pass\n", "\u2028".encode(), "é".encode("latin-1")]),
    st.binary(max_size=20),
)
CONTENTS = st.lists(WORDS, max_size=30).map(b"".join)
ways = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PLAIN = Way()


class Folder:
    """A file, its pieces and a home, anew for each example."""

    def __init__(self, top: Path, parser: Parser, data: bytes, how: Cut) -> None:
        self.parser = parser
        self.top = top / str(len([*top.iterdir()]))
        self.top.mkdir()
        self.home, self.path = self.top / "home", self.top / "a.py"
        self.path.write_bytes(data)
        written = pieces.split(str(self.path), how, self.home, self.parser)
        self.place, self.index = written.path, written.index

    def patch(self, way: Way = PLAIN, source: Path | None = None) -> Rejoined:
        named = str(source) if source else None
        return rejoin(str(self.place), self.home, way, self.parser, named)

    @property
    def parts(self) -> list[Path]:
        return [Path(segment.path) for segment in self.index.segments]

    def tree(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.top.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


@pytest.fixture(scope="module")
def top(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pieces")


HOW = st.builds(Cut, st.sampled_from(["python", "text"]), st.integers(1, 40), st.booleans())


@ways
@given(data=CONTENTS, how=HOW, edits=st.data())
def test_a_patch_is_the_edit_made_directly(top, parser, data, how, edits):
    folder = Folder(top, parser, data, how)
    for part in folder.parts:
        if edits.draw(st.booleans()):
            part.write_bytes(edits.draw(CONTENTS))
    direct = b"".join(part.read_bytes() for part in folder.parts)
    done = folder.patch()
    assume(not done.restored)
    assert (folder.path.read_bytes(), bool(done.patch)) == (direct, direct != data)
    again = folder.patch()
    assert (again.patch, again.before) == (b"", done.after)


@ways
@given(data=CONTENTS, now=CONTENTS, edit=CONTENTS)
def test_force_loses_neither_change(top, parser, data, now, edit):
    """X10: the file as it was is still there, and so are the edited pieces where they conflict."""
    folder = Folder(top, parser, data, Cut())
    (part,) = folder.parts
    part.write_bytes(edit)
    folder.path.write_bytes(now)
    before = folder.tree()
    done = folder.patch(Way(force=True))
    after = folder.tree()
    assert now == data or now in after.values()
    if done.conflicts:
        assert {path: after[path] for path in before} == before


@ways
@given(data=CONTENTS, at=st.floats(0, 1), junk=st.binary(max_size=3), named=st.booleans())
def test_a_damaged_index_changes_nothing(top, parser, data, at, junk, named):
    """X6, X7: whatever was done to it; with the source named what is taken is taken exactly."""
    folder = Folder(top, parser, data, Cut(target=20))
    folder.parts[0].write_bytes(b"edited\n")
    content = folder.place.read_bytes()
    cut = int(at * len(content))
    folder.place.write_bytes(content[:cut] + junk + content[cut + len(junk) + 1 :])
    before = folder.tree()
    try:
        folder.patch(source=folder.path if named else None)
    except OrchestratorError:
        assert folder.tree() == before
    else:
        whole = b"edited\n" + data[folder.index.segments[0].end_byte :]
        assert folder.path.read_bytes().removeprefix(b"\xef\xbb\xbf").endswith(whole[7:])
