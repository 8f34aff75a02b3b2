"""Which real files are split: for each language about as much, and the largest ones."""

from tests.corpus import Sample, sample, samples

AMOUNT = 3_000_000
"""Bytes of each language to be split in a round, about."""
LANGUAGES = {
    "python": ("python",),
    "c": ("better-sqlite3", "ffi-napi", "lttng-modules-dkms"),
    "go": (
        "golang-google-protobuf-dev",
        "golang-github-dgraph-io-badger-dev",
        "golang-github-syndtr-goleveldb-dev",
    ),
    "typescript": ("zod", "typescript", "fastify", "rxjs"),
}
LARGEST = (
    ("python", "_pydecimal.py"),
    ("python", "pydoc_data/topics.py"),
    ("better-sqlite3", "sqlite3.c"),
    ("typescript", "lib/_tsc.js"),
    ("typescript", "lib/lib.dom.d.ts"),
    ("golang-google-protobuf-dev", "internal/testprotos/test/test.pb.go"),
    ("typescript", "ru/diagnosticMessages.generated.json"),
    ("rxjs", "CHANGELOG.md"),
)


def chosen(language: str, over: int) -> list[Sample]:
    """Files over so many bytes; in UTF-8, for the other splitters take no bytes."""
    found = [one for package in LANGUAGES[language] for one in samples(package)]
    found = [one for one in found if not one.name.startswith("installed/")]
    usual = [one for one in found if one.language == language and over < len(one.data) < 1_000_000]
    usual = [one for one in usual if _is_utf8(one.data)]
    step = max(1, round(sum(len(one.data) for one in usual) / AMOUNT))
    return usual[::step]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def largest() -> list[Sample]:
    """The largest of each kind."""
    return [sample(*one) for one in LARGEST]
