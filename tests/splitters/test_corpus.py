"""Real files: joined they are what they were, no piece is too large, and no cut tears what fits."""

from bisect import bisect_right
from collections import Counter
from functools import cache
from hashlib import sha256
from itertools import pairwise

import pytest

import splitters
from splitters.source import read
from splitters.split import cut as cut_tree
from splitters.syntax import parse
from splitters.table import BY_NAME
from splitters.windows import FEWEST, LEAST, Window
from tests.corpus import Sample, sample, samples
from tests.downloads import NotOfferedError
from tests.splitters.judge import objections
from tests.splitters.spans import line_starts, spans

TARGETS = (splitters.TARGET, 4_096)
NEVER = {"string", "comment", "line", "fence", "character"}
SELDOM = {"function": 0.005, "member": 0.01, "section": 0.01, "description": 0.01}
"""The part of all cuts that may tear one that fits."""

PACKAGES = {
    "c": ("better-sqlite3", "ffi-napi", "lttng-modules-dkms"),
    "cpp": ("react-native", "better-sqlite3"),
    "go": (
        "golang-github-dgraph-io-badger-dev",
        "golang-github-syndtr-goleveldb-dev",
        "golang-google-protobuf-dev",
    ),
    "java": ("react-native", "@capacitor/android"),
    "javascript": ("axios", "fastify", "react-native", "rxjs"),
    "json": ("mime-db", "npm", "typescript"),
    "kotlin": ("react-native",),
    "man": ("npm",),
    "markdown": ("axios", "fastify", "npm", "rxjs"),
    "python": ("python",),
    "rust": ("librust-regex-dev", "librust-syn-dev"),
    "typescript": ("fastify", "rxjs", "typescript", "zod"),
    "yaml": ("uap-core",),
}
NAMED = (
    ("python", "argparse.py"),
    ("python", "_pydecimal.py"),
    ("lttng-modules-dkms", "src/lttng-events.c"),
    ("better-sqlite3", "sqlite3.c"),
    ("react-native", "ReactInstanceManager.java"),
    ("@capacitor/android", "Bridge.java"),
    ("zod", "src/v4/core/schemas.ts"),
    ("golang-github-syndtr-goleveldb-dev", "db_test.go"),
    ("mime-db", "db.json"),
    ("npm", "config.md"),
    ("uap-core", "regexes.yaml"),
    ("rxjs", "rxjs.umd.js"),
    ("rxjs", "CHANGELOG.md"),
    ("npm", "man7/config.7"),
)


@pytest.mark.parametrize("language", PACKAGES)
def test_pieces_of_real_files_are_these_files(language):
    for one in taken(language):
        for target in TARGETS:
            check(one, cut(one, target))


@pytest.mark.parametrize("language", PACKAGES)
def test_real_files_are_cut_where_nothing_tears(language):
    cuts, torn = 0, Counter()
    for one in large(language):
        found = spans(one.data, language)
        for target in TARGETS:
            made = [piece.start for piece in cut(one, target).pieces[1:]]
            cuts += len(made)
            torn.update(each.what for each in objections(one.data, found, made, target))
    assert cuts
    assert {what: number for what, number in torn.items() if what in NEVER} == {}
    seldom = {what: torn[what] / cuts for what in SELDOM}
    assert {what: part for what, part in seldom.items() if part > SELDOM[what]} == {}


@pytest.mark.parametrize("language", PACKAGES)
def test_pieces_of_large_files_are_full(language):
    """Of each file the last piece is left out: it is what remains."""
    for target in TARGETS:
        pieces = [piece for one in large(language) for piece in cut(one, target).pieces[:-1]]
        assert sum(piece.size for piece in pieces) >= 0.75 * target * len(pieces)


@pytest.mark.parametrize(
    "language", ["go", "javascript", "markdown", "python", "rust", "typescript"]
)
def test_large_files_are_cut_as_if_they_were_parsed_as_a_whole(language):
    """Those that are valid; of others a grammar may make something else of the rest."""
    row = BY_NAME[language]
    files = taken(language) if language != "python" else [sample("python", "_pydecimal.py")]
    compared = 0
    for one in files:
        if len(one.data) < FEWEST * LEAST:
            continue
        source = read(one.data)
        tree = parse(source.text, row)
        if tree and not tree.root_node.has_error:
            for target in TARGETS:
                whole = cut_tree(one.data, source, [Window(tree)], row, target, natural=False)
                assert cut(one, target) == whole
            compared += 1
    assert compared


@pytest.mark.parametrize(("package", "path"), NAMED)
def test_a_known_file_is_put_back_to_the_byte(package, path):
    of(package)
    one = sample(package, path)
    for natural in (False, True):
        check(one, splitters.split(one.data, known(one), natural=natural))


def of(package: str) -> tuple[Sample, ...]:
    """A package's files; where this machine's apt has another version, there is nothing to test."""
    try:
        return samples(package)
    except NotOfferedError as error:
        pytest.skip(str(error))


def taken(language: str) -> list[Sample]:
    """The files of a language; of Python's every eighth."""
    found = [one for package in PACKAGES[language] for one in of(package)]
    found = [one for one in found if one.language == language]
    return found[::8] if language == "python" else found


def large(language: str) -> list[Sample]:
    """Those over 16 KiB, but for the slowest to judge, which are over 2 MiB, and one whose lines
    a minifier broke wherever they were full."""
    found = [one for one in taken(language) if not one.name.endswith(".min.js")]
    return [one for one in found if 1 << 14 < len(one.data) < 1 << 21]


@cache
def cut(one: Sample, target: int) -> splitters.Pieces:
    return splitters.split(one.data, known(one), target)


def known(one: Sample) -> str | None:
    """Its language, as `splitters` calls it."""
    return None if one.language == "man" else one.language


def check(one: Sample, made: splitters.Pieces) -> None:
    """The pieces join to the file, are within the target, and say the truth of themselves."""
    pieces = made.pieces
    starts = line_starts(one.data)
    assert (pieces[0].start, pieces[-1].end) == (0, len(one.data))
    assert all(before.end == after.start for before, after in pairwise(pieces))
    for number, piece in enumerate(pieces, 1):
        content = one.data[piece.start : piece.end]
        lines = bisect_right(starts, piece.start), bisect_right(starts, piece.end - 1)
        assert 0 < len(content) <= made.target or one.data == b""
        assert piece.number == number
        assert piece.sha256 == sha256(content).hexdigest()
        assert (piece.first_line, piece.last_line) == lines or not content
