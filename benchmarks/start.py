"""From nothing to the first command's end, against docker-py's own create and start.

Ours: a sealed box on the prepared image, `true` run in it to its exit; with "prepare" before it,
all that a second run on the same commit does: find the commit, its inputs and the image. For a
repository of 100 files and one of 80,000. The floor: docker-py creates and starts a plain container
of the base image, without any hardening, and runs nothing in it.

Then, once each: how long the first commit takes, and a second one with a file changed.
"""

import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import commit, prepared, small_repository
from benchmarks.measure import compare, show
from sandbox import Engine, Limits, connect, open_box
from sandbox.images import BASE_IMAGE

ROUNDS = 15
SIZES = (100, 80_000)
SETUP = ("true",)


def _plain(engine: Engine, *command: str) -> None:
    container = engine.client.containers.create(BASE_IMAGE, ["sleep", "60"])
    try:
        container.start()
        if command:
            container.exec_run(list(command))
    finally:
        container.remove(force=True)


def _open(engine: Engine, image: str) -> None:
    with open_box(engine, image, Limits(), run="benchmark", purpose="work") as box:
        assert box.run(["true"]).exit.ok


def _begin(engine: Engine, path: Path, home: Path) -> None:
    found = prepared(engine, path, home, SETUP)
    assert found.cached
    _open(engine, found.image)


def _first(engine: Engine, path: Path, home: Path, images: ExitStack) -> str:
    """Prepare the first commit and then another one, and say how long each took."""
    took = []
    for text in ("one", "two"):
        (path / "package0/module0.py").write_text(text)
        (path / "pyproject.toml").touch()
        commit(path)
        began = time.perf_counter()
        image = prepared(engine, path, home, SETUP).image
        took.append(time.perf_counter() - began)
        images.callback(engine.client.images.remove, image, force=True)
    print(f"    first commit {took[0]:6.1f} s, the next one {took[1]:6.1f} s")
    return image


def main() -> None:
    engine = connect()
    candidates = {
        "docker-py create, start, remove": partial(_plain, engine),
        "docker-py create, start, exec true, remove": partial(_plain, engine, "true"),
    }
    with ExitStack() as images:
        for size in SIZES:
            path = images.enter_context(small_repository(size))
            home = Path(images.enter_context(TemporaryDirectory(prefix="benchmark-")))
            print(f"\nPreparing a repository of {size:,} files")
            sys.stdout.flush()
            image = _first(engine, path, home, images)
            candidates |= {
                f"{size:,} files: open, true, close": partial(_open, engine, image),
                f"{size:,} files: prepare, open, true, close": partial(_begin, engine, path, home),
            }
        medians = compare(candidates, ROUNDS)
    show("Sandbox start", medians, "docker-py create, start, remove", ROUNDS)


if __name__ == "__main__":
    main()
