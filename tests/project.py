"""A user's repository that grows, prepared as a run would prepare it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.history import history
from orchestrator.inputs import inputs
from orchestrator.repository import Repository
from orchestrator.submodules import submodules
from sandbox import BASE_IMAGE, Box, Engine, Limits, Prepared, Source, open_box, prepare
from tests.exchange import commit, git, start

MANIFEST = {"pyproject.toml": b"[project]\nname = 'p'\n"}


@dataclass
class Project:
    """A repository with its home, and the images that were made of it."""

    engine: Engine
    folder: Path
    made: list[str] = field(default_factory=list)
    owner: str = ""

    @classmethod
    def create(cls, engine: Engine, folder: Path, files: Mapping[str, bytes]) -> "Project":
        # Its own name in it: else another test's project could be the same commit.
        start(folder / "user", {**files, "name": str(folder).encode()})
        return cls(engine, folder)

    @property
    def user(self) -> Path:
        return self.folder / "user"

    def commit(self, files: Mapping[str, bytes], gone: tuple[str, ...] = ()) -> str:
        for name in gone:
            (self.user / name).unlink()
        return commit(self.user, files)

    def git(self, *arguments: str) -> str:
        return git(self.user, *arguments).decode().rstrip("\n")

    def source(
        self,
        setup: tuple[str, ...] = (),
        globs: tuple[str, ...] = (),
        depth: int | None = 50,
        base: str = "HEAD",
    ) -> Source:
        repository = Repository.open(str(self.user), self.folder / "home")
        at = repository.resolve(base)
        pack = repository.pack(at, self.folder / "packs")
        return Source(
            at.commit,
            at.tree,
            pack,
            lineage=str(self.user),
            inputs=inputs(repository, at, setup, globs).digest,
            history=history(repository, at, pack, depth),
            submodules=tuple(submodules(repository, at, pack.parent)),
        )

    def prepare(self, *setup: str, image: str = BASE_IMAGE, **options: object) -> Prepared:
        source = self.source(setup, **options)
        prepared = prepare(self.engine, image, source, setup=setup, owner=self.owner)
        self.made.append(prepared.image)
        return prepared

    def open(self, prepared: Prepared):
        return open_box(self.engine, prepared.image, Limits(), run="test", purpose="work")

    def say(self, prepared: Prepared, script: str) -> str:
        with self.open(prepared) as box:
            return said(box, script)

    def remove(self) -> None:
        """Remove the images, those that stand on others first."""
        for image in dict.fromkeys(reversed(self.made)):
            self.engine.client.images.remove(image, force=True)


def said(box: Box, script: str) -> str:
    """What a shell script prints, as the agent."""
    done = box.run(["sh", "-ec", script])
    assert done.exit.ok, done.stderr
    return done.stdout.decode()
