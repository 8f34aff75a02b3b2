"""Twenty sandboxes at once: each opened, a file changed, recorded by a snapshot, and closed again.

Against the same work done by one after the other. Also the memory of this process for each of
them, while all are open: what a sandbox costs the host beyond its container.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from benchmarks.measure import show
from orchestrator.repository import Repository
from sandbox import Engine, Limits, Prepared, connect, open_box

MANY = 20
LIMITS = Limits(memory=512 << 20)


def _resident() -> int:
    """Bytes of memory that this process holds, see proc(5)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _work(engine: Engine, image: Prepared, tree: str, place: Path, meet: threading.Barrier) -> None:
    with open_box(engine, image.image, LIMITS, run="benchmark", purpose="work") as box:
        assert box.run(["sh", "-c", "echo changed >README"]).exit.ok
        assert box.snapshot(tree, place).pack
        meet.wait()


def main() -> None:
    engine = connect()
    with small_repository() as path, TemporaryDirectory(prefix="benchmark-") as folder:
        home = Path(folder)
        image = prepared(engine, path, home)
        tree = Repository.open(str(path), home).resolve("HEAD").tree
        alone = threading.Barrier(1)
        _work(engine, image, tree, home / "first.pack", alone)
        began = time.perf_counter()
        for number in range(MANY):
            _work(engine, image, tree, home / f"{number}.pack", alone)
        medians = {"one after the other": time.perf_counter() - began}
        before, peak = _resident(), [0]
        meet = threading.Barrier(MANY, action=lambda: peak.append(_resident()))
        began = time.perf_counter()
        with ThreadPoolExecutor(MANY) as pool:
            jobs = [
                pool.submit(_work, engine, image, tree, home / f"{number}.pack", meet)
                for number in range(MANY)
            ]
            failures = sum(job.exception() is not None for job in jobs)
        medians[f"{MANY} at once"] = time.perf_counter() - began
    show(f"{MANY} sandboxes", medians, "one after the other", 1)
    print(
        f"  {failures} failed; {(max(peak) - before) / MANY / 1e6:.1f} MB of this process for each"
    )


if __name__ == "__main__":
    main()
