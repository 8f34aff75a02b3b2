"""From nothing to the first command's end, against docker-py's own create and start.

Ours: a sealed box on the prepared image, `true` run in it to its exit. The floor: docker-py creates
and starts a plain container of the base image, without any hardening, and runs nothing in it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from benchmarks.measure import compare, show
from sandbox import Engine, Limits, connect, open_box
from sandbox.images import BASE_IMAGE

ROUNDS = 15


def _plain(engine: Engine, *command: str) -> None:
    container = engine.client.containers.create(BASE_IMAGE, ["sleep", "60"])
    try:
        container.start()
        if command:
            container.exec_run(list(command))
    finally:
        container.remove(force=True)


def _ours(engine: Engine, image: str) -> None:
    with open_box(engine, image, Limits(), run="benchmark", purpose="work") as box:
        assert box.run(["true"]).exit.ok


def main() -> None:
    engine = connect()
    with small_repository() as path, TemporaryDirectory(prefix="benchmark-") as home:
        image = prepared(engine, path, Path(home)).image
        candidates = {
            "docker-py create, start, remove": lambda: _plain(engine),
            "docker-py create, start, exec true, remove": lambda: _plain(engine, "true"),
            "open_box, run true, close": lambda: _ours(engine, image),
        }
        medians = compare(candidates, ROUNDS)
    show("Sandbox start", medians, "docker-py create, start, remove", ROUNDS)


if __name__ == "__main__":
    main()
