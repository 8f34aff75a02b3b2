"""One change recorded, from the files of a sealed box to a commit that the guardrails have judged.

Ours: snapshot in the box, its pack to the host, taken in under limits, checked, judged, committed.
The floor: `git add -A` and `git commit` on the host, in a plain work tree, with nothing checked.
Both change one file before each round, which is not timed. The same for a look that finds nothing.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import commit, prepared, small_repository
from benchmarks.measure import show
from orchestrator.changes import Changes
from orchestrator.quarantine import Note, Quarantine
from orchestrator.repository import Repository
from orchestrator.settings import Policy
from sandbox import Box, Engine, Limits, connect, open_box

ROUNDS = 15
SIZES = (100, 80_000)
CHANGED = "package1/module1.py"
NOTE = Note("a change", "benchmark", 1, "bash", "agent")


def _taken(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _measured(path: Path, box: Box, changes: Changes) -> Mapping[str, float]:
    times: dict[str, list[float]] = {"git add, git commit": [], "record": [], "nothing": []}
    for number in itertools.islice(itertools.count(), ROUNDS + 1):
        (path / CHANGED).write_text(f"{number}\n")
        times["git add, git commit"].append(_taken(lambda: commit(path)))
        box.run(["sh", "-c", f"echo {number} >{CHANGED}"])
        times["record"].append(_taken(lambda: list(changes.record(box, NOTE))))
        box.run(["true"])
        times["nothing"].append(_taken(lambda: list(changes.record(box, NOTE))))
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def _of(engine: Engine, files: int, home: Path) -> None:
    with ExitStack() as stack:
        path = stack.enter_context(small_repository(files))
        image = prepared(engine, path, home).image
        stack.callback(engine.client.images.remove, image, force=True)
        repository = Repository.open(str(path), home)
        base = repository.resolve("HEAD")
        pack = repository.pack(base, home / "packs")
        quarantine = Quarantine.create(home / f"{files}.git", pack, base)
        box = stack.enter_context(
            open_box(engine, image, Limits(), run="benchmark", purpose="work")
        )
        medians = _measured(path, box, Changes.of(quarantine, Policy(), base))
    show(f"One change recorded, {files:,} files", medians, "git add, git commit", ROUNDS)


def main() -> None:
    engine = connect()
    with TemporaryDirectory(prefix="benchmark-") as home:
        for files in SIZES:
            _of(engine, files, Path(home))


if __name__ == "__main__":
    main()
