"""One command's round trip, a large output and the delay of a line, against what peers do.

All work in the same sealed box, but for swe-rex, whose server runs outside of any container.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from benchmarks.measure import compare, show
from sandbox import Box, Engine, Limits, Line, connect, open_box

SWE_REX = ("swe-rex==1.4.0", "aiohttp==3.13.2")
"""It needs aiohttp to talk to its server, and does not say so."""
PEERS = Path(sys.prefix) / "peers-swe-rex"
ROUNDS = 40
SIZE = 100_000_000
PRINT = f"head -c {SIZE} /dev/zero"
FLOOD = "yes 'a line of usual length, which is about that' | head -n 2000000"
TICK = "import time\nwhile True: print(time.time(), flush=True); time.sleep(0.01)"
TICKS = 200


def _install_swe_rex() -> bool:
    if not (PEERS / "ready").exists():
        print(f"Installing {SWE_REX[0]} into {PEERS} ...")
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        pip = [str(PEERS / "bin/pip"), "install", "--quiet", *SWE_REX]
        if subprocess.run(pip).returncode:
            return False
        (PEERS / "ready").touch()
    return True


def _swe_rex() -> Mapping[str, float]:
    """Seconds for each thing it was asked, as its own interpreter measured."""
    program = Path(__file__).with_name("peer_swerex.py")
    command = [str(PEERS / "bin/python"), str(program), str(ROUNDS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    words = (line.split() for line in done.stdout.splitlines())
    return {name: float(value) for name, value in words}


def _cli(box: Box, *command: str) -> None:
    quiet = subprocess.DEVNULL
    subprocess.run(["docker", "exec", box.id, *command], check=True, stdout=quiet)


def _docker_py(engine: Engine, box: Box, *command: str) -> None:
    engine.client.containers.get(box.id).exec_run(list(command))


def _round_trips(engine: Engine, box: Box, peer: Mapping[str, float]) -> None:
    medians = compare(
        {
            "docker exec true": lambda: _cli(box, "true"),
            "docker-py exec_run true": lambda: _docker_py(engine, box, "true"),
            "box.run true, as evidence": lambda: box.run(["true"], evidence=True),
            "box.run true": lambda: box.run(["true"]),
        },
        ROUNDS,
    )
    for name, seconds in peer.items():
        if name != "large":
            medians[f"swe-rex {name} true, no container"] = seconds
    show("A command, round trip", medians, "docker exec true", ROUNDS)


def _drained(box: Box, command: str, **options: bool) -> Callable[[], None]:
    def run() -> None:
        for _ in box.channel.start(["sh", "-c", command]):
            pass

    def evidence() -> None:
        box.run(["sh", "-c", command], limit=0, evidence=True)

    return evidence if options else run


def _outputs(box: Box, peer: Mapping[str, float]) -> None:
    medians = compare(
        {
            "docker exec, 100 MB": lambda: _cli(box, "sh", "-c", PRINT),
            "exec socket, 100 MB": _drained(box, PRINT, evidence=True),
            "channel, 100 MB": _drained(box, PRINT),
        },
        5,
    )
    if "large" in peer:
        medians["swe-rex, 10 MB times ten, no container"] = peer["large"]
    show("100 MB of output", medians, "docker exec, 100 MB", 5)
    began = time.perf_counter()
    count = sum(isinstance(item, Line) for item in box.stream(["sh", "-c", FLOOD]))
    print(f"  {count / (time.perf_counter() - began):,.0f} lines a second")


def _delays(box: Box) -> None:
    """From the moment a line is printed to the moment it is here; one clock, as on one machine."""
    delays = []
    lines = box.stream(["python3", "-c", TICK])
    for item in lines:
        if isinstance(item, Line):
            delays.append(time.time() - float(item.text))
        if len(delays) == TICKS:
            lines.close()
    rank = statistics.quantiles(delays, n=100)
    print(f"\nDelay of a line: p50 {rank[49] * 1000:.2f} ms, p95 {rank[94] * 1000:.2f} ms")


def main() -> None:
    peer = _swe_rex() if _install_swe_rex() else {}
    engine = connect()
    with small_repository() as path, TemporaryDirectory(prefix="benchmark-") as home:
        image = prepared(engine, path, Path(home)).image
        with open_box(engine, image, Limits(), run="benchmark", purpose="work") as box:
            _round_trips(engine, box, peer)
            _outputs(box, peer)
            _delays(box)


if __name__ == "__main__":
    main()
