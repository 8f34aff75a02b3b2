"""What set-up goes by: the lock files and manifests of a commit, and files that set-up names.

While none of them differs, what set-up left at one commit holds for another one.
"""

import hashlib
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.guardrails.globs import compile_globs
from orchestrator.repository import Base, Repository

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
    known = compile_globs(*MANIFESTS.split(), *globs)
    named = {os.fsencode(path) for command in setup for path in _named(command)}
    found = {}
    links = []
    for path, mode, name in files(repository, base.tree):
        if mode == "160000":
            links.append((path, name))
        elif path in named or known.fit(path):
            found[path] = (mode, name)
    if not found:
        return Inputs((), "")
    # With a submodule at another commit, set-up finds other files there.
    parts = [*sorted(found.items()), *links]
    paths = tuple(path.decode("utf-8", "replace") for path in sorted(found))
    return Inputs(paths, hashlib.sha256(repr(parts).encode()).hexdigest())


def files(repository: Repository, tree: str) -> Iterator[tuple[bytes, str, str]]:
    """Path, mode and object id of everything in a tree."""
    wanted = ("ls-tree", "-r", "-z", "--full-tree", tree)
    for row in repository.git.run(*wanted, limit=_LISTED_BYTES).split(b"\0")[:-1]:
        facts, _, path = row.partition(b"\t")
        mode, _, name = facts.decode("ascii").split()
        yield path, mode, name


def _named(command: str) -> set[str]:
    """Every path that a command may mean: words, also glued to an option, also after a `cd`."""
    words = [word for word in _BETWEEN_WORDS.split(command) if word]
    words += [word[2:] for word in words if re.match("-[A-Za-z].", word)]
    paths = {posixpath.normpath(word.removeprefix("/workspace/")) for word in words}
    return paths | {posixpath.join(folder, path) for folder in paths for path in paths}
