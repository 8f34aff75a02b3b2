"""What must hold of guardrails for every change anybody can make."""

import hashlib
import random
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.guardrails import table
from orchestrator.guardrails.added import additions
from orchestrator.guardrails.globs import compile_globs
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Verdict, worst
from orchestrator.patch import Entry
from orchestrator.settings import Policy

SECRET = "gh" + "p_" + "".join(random.Random(3).choices(string.ascii_letters, k=36))

paths = st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=4).map(b"/".join)
lines = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20), max_size=8
)


class Store(dict):
    """Blobs in memory."""

    def add(self, data):
        blob = hashlib.sha1(data).hexdigest()
        self[blob] = data
        return blob

    def size(self, blob):
        return len(self[blob])

    def read(self, blob):
        return self[blob]


def edit(path, old, new):
    blobs = Store()
    entry = Entry("M", "100644", "100644", blobs.add(old), blobs.add(new), path)
    return Difference((entry,), blobs)


@settings(deadline=None)
@given(paths, st.binary(max_size=300), st.binary(max_size=300))
def test_no_bytes_break_a_guardrail(path, old, new):
    findings = table.judge(edit(path, old, new), Policy())
    assert [f for f in findings if f.rule.endswith(".failed")] == []


@settings(deadline=None)
@given(lines, lines, lines)
def test_a_token_among_any_text_is_blocked_and_never_repeated(old, before, after):
    new = "\n".join([*before, f"x = {SECRET}", *after]).encode()
    findings = table.judge(edit(b"a.txt", "\n".join(old).encode(), new), Policy())
    assert worst(findings) is Verdict.BLOCK
    assert not any(SECRET[5:] in finding.reason for finding in findings)


@settings(deadline=None)
@given(lines, st.randoms())
def test_shuffled_lines_add_nothing(old, shuffle):
    new = old.copy()
    shuffle.shuffle(new)
    text = ["".join(f"{line}\n" for line in side).encode() for side in (old, new)]
    (addition,) = additions(edit(b"a", *text))
    assert (addition.lines, addition.removed) == ((), 0)


@given(paths)
def test_a_glob_covers_its_folder_at_any_case(path):
    folder = compile_globs("/.github/workflows")
    assert folder.fit(b".GitHub/WORKFLOWS/" + path)
    assert folder.fit(b".github/workflows")
