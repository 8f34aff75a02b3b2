"""Side by side: all candidates in one process, taking turns, medians compared."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping

Candidate = Callable[[], object]


def compare(candidates: Mapping[str, Candidate], rounds: int) -> dict[str, float]:
    """Seconds each candidate takes, the median of `rounds`; they take turns, after one warm-up."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for warm in range(rounds + 1):
        for name, candidate in candidates.items():
            started = time.perf_counter()
            candidate()
            if warm:
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) for name, taken in times.items()}


def show(title: str, medians: Mapping[str, float], floor: str, rounds: int) -> None:
    """Print each median in milliseconds and as a multiple of the floor's."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"\n{title} (median of {rounds}, {machine})")
    for name, seconds in medians.items():
        print(f"  {name:<44} {seconds * 1000:9.1f} ms   {seconds / medians[floor]:6.2f} x")
