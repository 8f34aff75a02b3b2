"""For any two trees: applying the recorded patch to the one gives exactly the other."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.patch import parse_unified
from tests.exchange import Exchange, Leaf, git


def is_applied(name: bytes) -> bool:
    """What `git apply` takes for a name: it keeps `.git` for itself, as any file system has it."""
    if set(name) & set(b"\0/~") or name in (b".", b".."):
        return False
    return all(part.rstrip(b" .").lower() != b".git" for part in re.split(rb"[\\:]", name))


NAME = st.binary(min_size=1, max_size=6).filter(is_applied)
NAMES = st.lists(NAME, min_size=1, max_size=3).map(b"/".join)
ODD_LINES = (
    *(b"a", b"", b" ", b"\r", b"\0", b"\xff", b"\x0c", "\u2028".encode()),
    *(b"--- a/x", b"@@ -1 +1 @@", b"diff --git a/x b/x", b"\\ No newline at end of file"),
)
LINES = st.lists(st.sampled_from(ODD_LINES)).map(b"\n".join)
CONTENTS = st.builds(bytes.__add__, LINES, st.sampled_from([b"", b"\n"]))
LEAVES = st.tuples(st.sampled_from(["100644", "100755"]), CONTENTS)
FILES = st.dictionaries(NAMES, LEAVES, max_size=5)


def without_clashes(files: Mapping[bytes, Leaf]) -> dict[bytes, Leaf]:
    """A path cannot be both a file and a folder."""
    folders = {path[:at] for path in files for at in range(len(path)) if path[at : at + 1] == b"/"}
    return {path: leaf for path, leaf in files.items() if path not in folders}


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Exchange:
    return Exchange.create(tmp_path_factory.mktemp("exchange"), {"a": b"one\n"})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=FILES, new=FILES)
def test_applying_the_patch_gives_exactly_the_new_tree(exchange: Exchange, old, new):
    quarantine, inside = exchange.quarantine, exchange.inside
    before = exchange.inside.tree(without_clashes(old))
    after = exchange.inside.tree(without_clashes(new))
    for tree in (before, after):
        quarantine.git.index_pack(inside.pack(tree))
    patch = quarantine.diff(before, after)
    git(inside.path, "read-tree", before)
    if patch:
        git(inside.path, "apply", "--cached", "--whitespace=nowarn", stdin=patch)
    assert git(inside.path, "write-tree").decode().strip() == after
    counts = [(count.added, count.removed) for count in quarantine.numstat(before, after)]
    assert [(file.added, file.removed) for file in parse_unified(patch)] == counts
