"""What the benchmarks work on: a small repository, packed and prepared as a run would do it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.repository import Repository
from sandbox import Engine, Prepared, Source, prepare
from sandbox.images import BASE_IMAGE


@contextmanager
def small_repository() -> Iterator[Path]:
    """A repository of 100 small files in one commit."""
    with TemporaryDirectory(prefix="benchmark-") as folder:
        repository = Path(folder) / "repository"
        for number in range(100):
            file = repository / f"package{number % 10}/module{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"def answer():\n    return {number}\n" * 10)
        git = ("git", "-C", str(repository), "-c", "user.name=B", "-c", "user.email=b@localhost")
        for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "base")):
            subprocess.run([*git, *command], check=True)
        yield repository


def prepared(engine: Engine, path: Path, home: Path) -> Prepared:
    """The repository at HEAD as an image, ready to be opened."""
    repository = Repository.open(str(path), home)
    base = repository.resolve("HEAD")
    pack = repository.pack(base, home / "packs")
    return prepare(engine, BASE_IMAGE, Source(base.commit, base.tree, pack))
