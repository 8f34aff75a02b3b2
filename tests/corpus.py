"""Real files that splitters are measured and tested on: this interpreter's, and pinned packages'.

Nothing is unpacked to disk or executed: an archive is read, and its members are bytes.
"""

import io
import sysconfig
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePosixPath

from tests.downloads import Package, fetch

LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".json": "json",
    ".kt": "kotlin",
    ".md": "markdown",
    ".rs": "rust",
    ".ts": "typescript",
    ".yaml": "yaml",
    **dict.fromkeys((".1", ".5", ".7"), "man"),
}
"""What a suffix stands for here, said apart from what `splitters.detect` makes of it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A package, and which of its files are taken."""

    package: Package
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One real file."""

    name: str
    """Its package and its path there."""
    language: str
    data: bytes


def _npm(name: str, version: str, sha256: str, *wanted: str) -> Source:
    return Source(Package("npm", name, version, sha256), wanted)


def _apt(name: str, version: str, sha256: str, *wanted: str) -> Source:
    return Source(Package("apt", name, version, sha256), wanted)


SOURCES = (
    _npm(
        "axios",
        "1.12.2",
        "4046ac15d45dfd132c35bf7e6f749fb89cb90b42b41d3fde180efcc43cabeb87",
        "*.md",
        "package/dist/axios.js",
    ),
    _npm(
        "better-sqlite3",
        "12.4.1",
        "14398acbf00d1e8fe0a2753df7d4f15c13138e4b874f4e6e96791f65b4536d0d",
        "*.[ch]",
        "*.cpp",
    ),
    _npm(
        "@capacitor/android",
        "7.4.4",
        "73aff14ace0bc212adb101ce49c2fa58ce8743f836b0dbe5e5a433a060c149e1",
        "*.java",
    ),
    _npm(
        "fastify",
        "4.29.1",
        "c70e4fb4b277d0b7464ef808cd71c38572bd4afcbbf1aaea3e55ba522ae8a0ad",
        "*.md",
        "*.js",
        "*.ts",
    ),
    _npm(
        "ffi-napi",
        "4.0.3",
        "e33d87c94b2bb59a60cc055bb7c767cbb786156fa696fae20d780da1c521e3a2",
        "*.[ch]",
    ),
    _npm(
        "mime-db",
        "1.54.0",
        "2b21054e65d0eabd58c5002d2713e968dd47b15700bfed4b7281a344ded1c420",
        "*.json",
    ),
    _npm(
        "npm",
        "10.9.4",
        "4bfba8a0c823024d1926ec9d97a37a00eb60fd2adf44b3d34a686fc32e8f51e4",
        "package/man/*",
        "*/config.md",
        "*/tables/*.json",
    ),
    _npm(
        "react-native",
        "0.72.17",
        "0f071827845cfd8f0a32baf7f28ad3e98f236979303886cc469d68773232573a",
        "*.java",
        "*.cpp",
        "*.kt",
        "*/ReactNativeRenderer-dev.js",
    ),
    _npm(
        "rxjs",
        "7.8.2",
        "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82",
        "*.md",
        "*/bundles/*.js",
        "package/src/*.ts",
    ),
    _npm(
        "typescript",
        "5.9.3",
        "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3",
        "package/lib/lib.*.d.ts",
        "package/lib/typescript.d.ts",
        "package/lib/_tsc.js",
        "*.generated.json",
    ),
    _npm(
        "uap-core",
        "0.18.0",
        "28abde9e093be91293ac8ce7b8304557b73ef1ba48a7cf8429192c0fc720a677",
        "*.yaml",
    ),
    _npm(
        "zod",
        "4.1.12",
        "2ef9d7a7d822b059c9bd21f87caa4fdc48220d437353678984df942fb67b43fa",
        "*.ts",
    ),
    _apt(
        "golang-github-dgraph-io-badger-dev",
        "2.2007.2-3",
        "aac6da74fdad594834092793937fdfffa0f5a7e75092ef63a597b591a59c7e12",
        "*.go",
    ),
    _apt(
        "golang-github-syndtr-goleveldb-dev",
        "0.0~git20200815.5c35d60-1",
        "805976421ea4ab7719b128d4d2a12510627812cae48bccefd8d2c919146db265",
        "*.go",
    ),
    _apt(
        "golang-google-protobuf-dev",
        "1.28.1-3",
        "8421baafafb4eb08d191fa1a09449bae40eda04aee82a55f827c52226c7abfc0",
        "*.go",
    ),
    _apt(
        "librust-regex-dev",
        "1.7.1-1",
        "9b8c87bb5aa87c0095f4cc36ed829c80e815c2f71337325bd6e25f8de1fba7f7",
        "*.rs",
    ),
    _apt(
        "librust-syn-dev",
        "1.0.107-1",
        "64bfca244ab8ec45a4da1f5d64411af34f2d6eac7ac094f4f1dce9bf0b8a3699",
        "*.rs",
    ),
    _apt(
        "lttng-modules-dkms",
        "2.13.9-1+deb12u1",
        "385d40aa872c30a76d49d14be564d8043d92e929d56e9172ef22ff2082bb356d",
        "*.c",
    ),
)
"""About 35 MB to fetch, once. Those by apt are of Debian 12."""


@cache
def samples(package: str) -> tuple[Sample, ...]:
    """The files taken from one package, or from `python`: this interpreter's library."""
    if package == "python":
        return tuple(_python())
    (source,) = (source for source in SOURCES if source.package.name == package)
    return tuple(_members(source))


def sample(package: str, path: str) -> Sample:
    """The one file of a package whose path ends so."""
    (found,) = (one for one in samples(package) if one.name.endswith(f"/{path}"))
    return found


def _python() -> Iterator[Sample]:
    """The standard library; of the installed packages what is large."""
    library = Path(sysconfig.get_path("stdlib"))
    installed = Path(sysconfig.get_path("purelib"))
    for path in sorted(library.rglob("*.py")):
        if not {"site-packages", "dist-packages"} & set(path.parts):
            yield Sample(f"python/{path.relative_to(library)}", "python", path.read_bytes())
    for path in sorted(installed.rglob("*.py")):
        if path.stat().st_size > 65_536:
            yield Sample(f"installed/{path.relative_to(installed)}", "python", path.read_bytes())


def _members(source: Source) -> Iterator[Sample]:
    packed = fetch(source.package).read_bytes()
    if source.package.registry == "apt":
        packed = _files_of_debian(packed)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:  # in its order: going back means unpacking it all again
            path = member.name.removeprefix("./")
            language = LANGUAGES.get(PurePosixPath(path).suffix)
            if language and member.isreg() and any(fnmatch(path, one) for one in source.wanted):
                content = archive.extractfile(member)
                assert content is not None
                yield Sample(f"{source.package.name}/{path}", language, content.read())


def _files_of_debian(packed: bytes) -> bytes:
    """The archive of files in a Debian package, see deb(5) and ar(5)."""
    at = 8
    while at < len(packed):
        name, size = packed[at : at + 16].strip(b" /"), int(packed[at + 48 : at + 58])
        if name.startswith(b"data.tar"):
            return packed[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise ValueError("no data.tar in this package")
