"""What the benchmarks work on: a small repository, packed and prepared as a run would do it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.history import history
from orchestrator.inputs import remembered
from orchestrator.repository import Repository
from sandbox import Engine, Prepared, Source, prepare
from sandbox.images import BASE_IMAGE


@contextmanager
def small_repository(files: int = 100) -> Iterator[Path]:
    """A repository of this many small files in one commit, 100 to a folder at most."""
    with TemporaryDirectory(prefix="benchmark-") as folder:
        repository = Path(folder) / "repository"
        for number in range(files):
            file = repository / f"package{number % max(10, files // 100)}/module{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"def answer():\n    return {number}\n" * 10)
        git(repository, "init", "-q")
        commit(repository)
        yield repository


def commit(repository: Path) -> None:
    """Commit all files as they are."""
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "benchmark")


def git(repository: Path, *arguments: str) -> None:
    # No housekeeping: it would go on in the background, beside what is measured.
    who = ("-c", "user.name=B", "-c", "user.email=b@localhost", "-c", "gc.auto=0")
    subprocess.run(["git", "-C", str(repository), *who, *arguments], check=True)


def prepared(engine: Engine, path: Path, home: Path, setup: tuple[str, ...] = ()) -> Prepared:
    """The repository at HEAD as an image, ready to be opened."""
    repository = Repository.open(str(path), home)
    base = repository.resolve("HEAD")
    pack = repository.pack(base, home / "packs")
    source = Source(
        base.commit,
        base.tree,
        pack,
        lineage=str(path),
        inputs=remembered(repository, base, setup, (), pack).digest,
        history=history(repository, base, pack, 50),
    )
    return prepare(engine, BASE_IMAGE, source, setup=setup)
