"""For any files: git's patch, applied as the agent's tool applies it, gives what git gives."""

import re
from collections.abc import Mapping
from contextlib import suppress
from difflib import SequenceMatcher

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.patching.forms import read
from orchestrator.patching.hunks import PatchProblem
from orchestrator.patching.placing import placed
from orchestrator.patching.trial import Blob
from tests.exchange import Exchange, Leaf, git
from tests.patched import patched, patched_blobs

NAMES = st.sampled_from([b"a", b"b/c", b"b/d e", 'ä"\\\t'.encode(), b"\xff", b"e\nf", b"a.b"])
ODD_LINES = (
    *(b"a", b"", b" ", b"x\r", b"\r", b"\0", b"\xff", b"\x0c", "\u2028".encode(), b"\xef\xbb\xbfa"),
    *(b"--- a/x", b"+++ b/x", b"-- ", b"++ b/x", b"@@ -1 +1 @@", b"diff --git a/x b/x"),
    *(b"\\ No newline at end of file", b"*** End Patch", b"```", "\ufffd".encode()),
)
LINES = st.lists(st.sampled_from(ODD_LINES), max_size=12).map(b"\n".join)
CONTENTS = st.builds(bytes.__add__, LINES, st.sampled_from([b"", b"\n"]))
LEAVES = st.tuples(st.sampled_from(["100644", "100755"]), CONTENTS)
FILES = st.dictionaries(NAMES, LEAVES, max_size=4)
DIFF = ("diff", "--text", "--full-index", "--no-ext-diff", "--no-textconv")


@pytest.fixture(scope="module")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Exchange:
    return Exchange.create(tmp_path_factory.mktemp("exchange"), {"x": b"one\n"})


def blobs(files: Mapping[bytes, Leaf]) -> dict[bytes, Blob]:
    return {path: Blob(content, mode == "100755") for path, (mode, content) in files.items()}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=FILES, new=FILES, renames=st.booleans())
def test_any_patch_of_git_gives_the_new_files(exchange: Exchange, old, new, renames):
    before, after = exchange.inside.tree(old), exchange.inside.tree(new)
    found = "--find-renames=20%" if renames else "--no-renames"
    patch = git(exchange.inside.path, *DIFF, found, before, after)
    if patch:
        assert patched_blobs(blobs(old), patch) == blobs(new)
    else:
        assert old == new


WORDS = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"    a", b"", b"}"]), max_size=25)


@settings(max_examples=60, deadline=None)
@given(old=WORDS, new=WORDS, above=st.integers(1, 9), counts=st.integers(-3, 3))
def test_stale_numbers_lead_to_the_right_place_or_nowhere(exchange, old, new, above, counts):
    """Lines were added above since, and the counts are wrong: each line is unique, or nothing."""
    unique = [b"%s %d" % (line, number) for number, line in enumerate(old)]
    changed = [b"%s %d" % (line, number) for number, line in enumerate(new)]
    before, after = (b"".join(line + b"\n" for line in lines) for lines in (unique, changed))
    trees = [exchange.inside.tree({b"f": ("100644", text)}) for text in (before, after)]
    patch = git(exchange.inside.path, *DIFF, *trees)
    wrong = re.sub(
        rb"(?m)^(@@ -\d+,)(\d+)(.*)$",
        lambda at: b"%s%d%s" % (at[1], max(1, int(at[2]) + counts), at[3]),
        patch,
    )
    fresh = b"fresh\n" * above
    if not patch or b"-0,0" in patch:
        return
    assert patched({"f": fresh + before}, wrong) == {"f": fresh + after}


@given(file=WORDS, hunk=st.lists(st.sampled_from([b" a", b"-a", b"-b", b"+c", b" b"]), min_size=1))
def test_a_hunk_without_a_number_goes_where_it_fits_only_once(file, hunk):
    content = b"".join(line + b"\n" for line in file)
    (change,) = read(b"--- a/f\n+++ b/f\n@@\n" + b"\n".join(hunk) + b"\n")
    old = [line[1:] for line in hunk if line[:1] != b"+"]
    fits = [at for at in range(len(file)) if old and file[at : at + len(old)] == old]
    changes = any(line[:1] != b" " for line in hunk)
    try:
        lines = placed(content, change.hunks)
    except PatchProblem:
        assert len(fits) != 1 or not changes
        assert file or old or not changes
    else:
        new = [line[1:] for line in hunk if line[:1] != b"-"]
        at = fits[0] if fits else 0
        expected = [*file[:at], *new, *file[at + len(old) :]]
        assert [line.text[:-1] for line in lines if line.mark != "-"] == expected
        assert len(fits) == 1 or not file


def v4a(old: list[bytes], new: list[bytes], context: int) -> bytes:
    """A patch between two lists of lines, as a model would write it."""
    lines = [b"*** Begin Patch", b"*** Update File: f"]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        lines.append(b"@@")
        for word, from_old, to_old, from_new, to_new in group:
            if word == "equal":
                lines += [b" " + line for line in old[from_old:to_old]]
            else:
                lines += [b"-" + line for line in old[from_old:to_old]]
                lines += [b"+" + line for line in new[from_new:to_new]]
    return b"\n".join([*lines, b"*** End Patch", b""])


@settings(max_examples=300, deadline=None)
@given(old=WORDS, new=WORDS, context=st.integers(0, 4), crlf=st.booleans())
def test_without_numbers_a_patch_is_applied_right_or_refused(old, new, context, crlf):
    before = b"".join(line + (b"\r\n" if crlf else b"\n") for line in old)
    try:
        lines = placed(before, read(v4a(old, new, context))[0].hunks)
    except PatchProblem:
        assert context == 0 or len(set(old)) < len(old)
    else:
        after = [line.text.replace(b"\r\n", b"\n") for line in lines if line.mark != "-"]
        assert after == [line + b"\n" for line in new]


@settings(max_examples=200, deadline=None)
@given(content=CONTENTS, patch=st.lists(st.sampled_from([
    b"--- a/f\n", b"+++ b/f\n", b"@@ -1 +1 @@\n", b"@@\n", b" a\n", b"-a\n", b"+b\n", b"\n",
    b"*** Begin Patch\n", b"*** Update File: f\n", b"*** End of File\n", b"*** End Patch\n",
    b"\\ No newline at end of file\n", b"*** Move to: g\n", b"diff --git a/f b/f\n", b"-- \n",
    b"rename from f\n", b"rename to g\n", b"old mode 1\n", b"@@ a\n", b"*** Delete File: f\n",
]), max_size=14).map(b"".join))  # fmt: skip
def test_any_text_is_applied_or_refused_with_a_reason(content, patch):
    with suppress(PatchProblem):  # and no other
        patched({"f": content}, patch)
