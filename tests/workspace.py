"""A real sandbox for tests of whatever works in one, with an empty /workspace for each test."""

import io
import os
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.repository import Repository
from sandbox import Box, Engine, Limits, Source, connect, open_box, prepare
from sandbox.images import BASE_IMAGE

_DATES = {f"GIT_{who}_DATE": "@1700000000 +0000" for who in ("AUTHOR", "COMMITTER")}
_NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Workspace:
    """The files of one box, seen and set from outside its tools."""

    def __init__(self, box: Box) -> None:
        self.box = box

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Replace everything in /workspace by these files."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, content in files.items():
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        command = ["sh", "-c", "find . -mindepth 1 -delete && tar -x"]
        assert self.box.run(command, stdin=packed.getvalue()).exit.ok

    def tree(self) -> dict[str, bytes]:
        """Every file in /workspace with its content."""
        packed = self.box.run(["tar", "-c", "."]).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            return {
                member.name.removeprefix("./"): archive.extractfile(member).read()
                for member in archive
                if member.isfile()
            }


def prepared_image(engine: Engine, folder: Path) -> str:
    """A repository with one file, prepared; always the same commit, so it is prepared once."""
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    (folder / "README.md").write_bytes(b"# Tiny\n")
    for command in (["init", "-q"], ["add", "README.md"], ["commit", "-q", "-m", "base"]):
        subprocess.run([*git, *command], check=True, env=os.environ | _DATES | _NO_SETTINGS)
    repository = Repository.open(str(folder), folder / "home")
    base = repository.resolve("HEAD")
    pack = repository.pack(base, folder / "packs")
    return prepare(engine, BASE_IMAGE, Source(base.commit, base.tree, pack)).image


@dataclass(frozen=True)
class Bench:
    """The box that all tests of a session share, and what it takes to open another."""

    engine: Engine
    image: str
    box: Box


@pytest.fixture(scope="session")
def bench(tmp_path_factory) -> Iterator[Bench]:
    engine = connect()
    image = prepared_image(engine, tmp_path_factory.mktemp("tiny"))
    with open_box(engine, image, Limits(), run="test", purpose="work") as box:
        yield Bench(engine, image, box)
    engine.client.close()


@pytest.fixture
def workspace(bench: Bench) -> Workspace:
    empty = Workspace(bench.box)
    empty.fill({})
    return empty


@pytest.fixture
def dead_box(bench: Bench) -> Iterator[Box]:
    """A box whose container was killed."""
    with open_box(bench.engine, bench.image, Limits(), run="test", purpose="work") as opened:
        bench.engine.client.containers.get(opened.id).kill()
        yield opened
