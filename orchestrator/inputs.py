"""What set-up goes by: the lock files and manifests of a commit, and files that set-up names.

While none of them differs, what set-up left at one commit holds for another one.
"""

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from orchestrator.guardrails import globs as glob_rules
from orchestrator.guardrails.globs import compile_globs
from orchestrator.repository import Base, Repository
from sandbox import scratch

MANIFESTS = """
    requirements*.txt requirements*.in constraints*.txt pyproject.toml setup.py setup.cfg
    poetry.lock uv.lock pdm.lock pylock*.toml Pipfile* tox.ini noxfile.py environment*.yml
    environment*.yaml conda-lock.yml pixi.toml pixi.lock .python-version .tool-versions mise.toml

    package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
    pnpm-workspace.yaml .npmrc .yarnrc* .nvmrc .node-version bun.lock bun.lockb deno.json deno.lock

    Cargo.toml Cargo.lock rust-toolchain* go.mod go.sum go.work go.work.sum
    Gemfile* *.gemspec .ruby-version composer.json composer.lock mix.exs mix.lock
    rebar.config rebar.lock pubspec.yaml pubspec.lock Package.swift Package.resolved

    pom.xml build.gradle* settings.gradle* gradle.properties gradle.lockfile libs.versions.toml
    gradle-wrapper.properties build.sbt deps.edn project.clj
    *.csproj *.fsproj *.sln packages.lock.json Directory.*.props nuget.config global.json

    *.cabal cabal.project* stack.yaml* *.opam dune-project cpanfile* renv.lock DESCRIPTION
    Project.toml Manifest.toml conanfile.* vcpkg.json flake.nix flake.lock shell.nix

    Makefile GNUmakefile justfile Taskfile.y*ml apt.txt apt-packages.txt Aptfile Brewfile
"""
"""Names, at any depth, of what says which packages are needed; build files say it with a target
such as `make deps`. A file too many costs a set-up now and then, one too few a stale image."""

_BETWEEN_WORDS = re.compile(r"""[\s;|&()<>"'`=$]+""")
_LISTED_BYTES = 1 << 30
_NAMES = (re.escape(name).replace(r"\*", r"[^/\0]*") for name in MANIFESTS.split())
_MANIFEST = re.compile(rf"[\t/](?:{'|'.join(_NAMES)})(?=\0)".encode())


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a commit that decide what set-up does."""

    paths: tuple[str, ...]
    digest: str
    """Empty where there are none: then any file may decide it."""


def inputs(
    repository: Repository, base: Base, setup: tuple[str, ...], globs: tuple[str, ...]
) -> Inputs:
    """Find them: manifests, whatever `globs` fit, and each file that a set-up command names."""
    listed = listing(repository, base.tree)
    found = {*_ending(listed, _MANIFEST), *_with(listed, setup)}
    if globs:
        fit = compile_globs(*globs).fit
        found.update(row for row in listed.split(b"\0") if row and fit(row.partition(b"\t")[2]))
    found = {row for row in found if not row.startswith(b"160000 ")}
    if not found:
        return Inputs((), "")
    # With a submodule at another commit, set-up finds other files there.
    decisive = sorted({*found, *links(listed)})
    paths = sorted(row.partition(b"\t")[2].decode("utf-8", "replace") for row in found)
    return Inputs(tuple(paths), hashlib.sha256(b"\0".join(decisive)).hexdigest())


def remembered(
    repository: Repository,
    base: Base,
    setup: tuple[str, ...],
    globs: tuple[str, ...],
    pack: Path,
) -> Inputs:
    """As `inputs`, looked for once: what was found is kept beside the base's `pack`.

    A large repository takes 0.2 s to look through. What cannot be kept is looked for again, and so
    is what is kept but damaged.
    """
    rules = [Path(file).read_text("utf-8") for file in (__file__, glob_rules.__file__)]
    asked = _digest(json.dumps((rules, base.tree, setup, globs)).encode())
    kept = pack.with_name(f"{pack.stem}-{asked[:16]}.inputs")
    if known := _kept(kept):
        return known
    found = inputs(repository, base, setup, globs)
    with suppress(OSError):
        _keep(found, kept)
    return found


def _kept(file: Path) -> Inputs | None:
    try:
        digest, _, content = file.read_bytes().partition(b"\n")
        if digest.decode("ascii") == _digest(content):
            return msgspec.json.decode(content, type=Inputs)
    except (OSError, ValueError):
        return None
    return None


def _keep(found: Inputs, file: Path) -> None:
    """Write it whole, or not at all."""
    content = msgspec.json.encode(found)
    with scratch.folder(file.parent) as place, (place / file.name).open("wb") as new:
        new.write(_digest(content).encode("ascii") + b"\n" + content)
        new.flush()
        os.fsync(new.fileno())
        os.replace(new.name, file)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def listing(repository: Repository, tree: str) -> bytes:
    """Everything in a tree, each row ended by NUL: mode, kind and object id, a tab, the path."""
    wanted = ("ls-tree", "-r", "-z", "--full-tree", tree)
    return repository.git.run(*wanted, limit=_LISTED_BYTES)


def links(listed: bytes) -> Iterator[bytes]:
    """The rows of submodules."""
    if listed.startswith(b"160000 ") or b"\x00160000 " in listed:
        yield from (row for row in listed.split(b"\0") if row.startswith(b"160000 "))


def _ending(listed: bytes, end: re.Pattern[bytes]) -> Iterator[bytes]:
    """The rows that end so; searched as a whole, for there may be many thousand."""
    for match in end.finditer(listed):
        yield listed[listed.rfind(b"\0", 0, match.start()) + 1 : match.end()]


def _with(listed: bytes, setup: tuple[str, ...]) -> Iterator[bytes]:
    """The rows of files that a command names."""
    paths = {os.fsencode(path) for command in setup for path in _named(command)}
    for path in paths:
        at = listed.find(b"\t%s\0" % path)
        if at != -1:
            yield listed[listed.rfind(b"\0", 0, at) + 1 : at + 1 + len(path)]


def _named(command: str) -> set[str]:
    """Every path that a command may mean: words, also glued to an option, also after a `cd`."""
    words = [word for word in _BETWEEN_WORDS.split(command) if word]
    words += [word[2:] for word in words if re.match("-[A-Za-z].", word)]
    paths = {posixpath.normpath(word.removeprefix("/workspace/")) for word in words}
    return paths | {posixpath.join(folder, path) for folder in paths for path in paths}
