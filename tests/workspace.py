"""A real sandbox for tests of whatever works in one, with an empty /workspace for each test."""

import io
import tarfile
from collections.abc import Iterator, Mapping

import pytest

from sandbox import Box, Engine, Limits, open_box


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


@pytest.fixture
def workspace(box: Box) -> Workspace:
    empty = Workspace(box)
    empty.fill({})
    return empty


@pytest.fixture
def dead_box(engine: Engine, box: Box) -> Iterator[Box]:
    """Another box like `box` whose container was killed."""
    image = engine.client.containers.get(box.id).image.id
    with open_box(engine, image, Limits(), run="test", purpose="work") as opened:
        engine.client.containers.get(opened.id).kill()
        yield opened
