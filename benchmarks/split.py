"""Splitting real files, against a plain parse of them and the well-known chunkers of code.

Speed: all splitters on the same files in one run, each in a process of its own, in turns; each
against a plain parse in a process that does nothing else, and against one of each file just before
it in its own process. (The nodes of a tree come from Python's allocator, where other objects are in
their way: in a process that does more than parsing, a parse takes longer.)
Quality, of what they made in that run: whether the pieces join to the file, the largest piece, and
the cuts that tear what would have fitted, found by a judge that knows none of them. Then the
largest files, each alone: seconds, and the memory that a fresh process needs at its peak. What is
printed are the tables of docs/splitters.md and the rows of benchmarks/README.md.
"""

import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.quality import Quality, quality
from benchmarks.split_files import LANGUAGES, chosen, largest
from tests.corpus import Sample

ROUNDS = 7
TARGET = 32_768
ROOT = Path(__file__).parents[1]
PEERS = Path(sys.prefix) / "peers-splitters"
PINNED = (
    "llama-index-core==0.14.25",
    "semantic-text-splitter==0.33.1",
    "chonkie==1.6.4",  # the last with grammars from a package: later ones download them
    "tree-sitter-language-pack==0.13.0",
    "tree-sitter==0.26.1",
)
OURS = ("raw parse", "ours")
NAMES = (
    *OURS,
    "llama-index",
    "semantic-text-splitter",
    "semantic-text-splitter, trim=False",
    "chonkie",
)


@dataclass(frozen=True, slots=True)
class Splitter:
    """A splitter's process, which answers a request at a time."""

    name: str
    process: subprocess.Popen[str]

    def seconds(self, language: str, paths: Sequence[Path]) -> tuple[float, float]:
        """That a plain parse of all these files takes here, and that splitting them takes."""
        parsed, split = self._ask("time", language, paths)
        return parsed, split

    def pieces(self, language: str, paths: Sequence[Path]) -> list[list[str]]:
        """Of each file, as text."""
        return list(self._ask("pieces", language, paths))

    def memory(self, language: str, path: Path) -> int:
        """Bytes that splitting this file adds to the process at most."""
        return int(self._ask("memory", language, [path]))

    def _ask(self, want: str, language: str, paths: Sequence[Path]) -> Any:  # noqa: ANN401  # JSON
        asked = {"want": want, "language": language, "target": TARGET, "paths": [*map(str, paths)]}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} failed on {language}; see above.")
        return json.loads(answer)


def _start(name: str, stack: ExitStack) -> Splitter:
    python, program = (
        (sys.executable, "split_ours.py")
        if name in OURS
        else (PEERS / "bin/python", "split_peers.py")
    )
    process = stack.enter_context(
        subprocess.Popen(
            [python, ROOT / "benchmarks" / program, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(ROOT), "HOME": str(PEERS)},
        )
    )
    return Splitter(name, process)


def _install_peers() -> None:
    ready = PEERS / "ready"
    if not ready.exists() or ready.read_text() != str(PINNED):
        print(f"Installing {', '.join(PINNED)} into {PEERS} ...")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(PEERS)], check=True)
        subprocess.run([str(PEERS / "bin/pip"), "install", "--quiet", *PINNED], check=True)
        ready.write_text(str(PINNED))


def _written(files: Sequence[Sample], folder: Path) -> list[Path]:
    paths = []
    for number, one in enumerate(files):
        path = folder / f"{one.language}{number}"
        path.write_bytes(one.data)
        paths.append(path)
    return paths


@dataclass(frozen=True, slots=True)
class Speed:
    """Of one splitter on the files of one language: the medians of all rounds."""

    seconds: float
    share: float
    """Of the speed of the first splitter, taken in each round by itself."""
    beside: float
    """Of that of a plain parse in its own process, likewise."""


def _timed(
    splitters: Sequence[Splitter], language: str, paths: Sequence[Path], rounds: int
) -> Mapping[str, Speed]:
    """Of each splitter; after one warm-up they take turns."""
    times: dict[str, list[tuple[float, float]]] = {one.name: [] for one in splitters}
    for warm in range(rounds + 1):
        for one in splitters:
            taken = one.seconds(language, paths)
            if warm:
                times[one.name].append(taken)
    floor = [own for _, own in times[splitters[0].name]]
    speeds = {}
    for name, rows in times.items():
        seconds = statistics.median(own for _, own in rows)
        share = statistics.median(raw / own for raw, (_, own) in zip(floor, rows, strict=True))
        speeds[name] = Speed(seconds, share, statistics.median(raw / own for raw, own in rows))
    return speeds


def _compare(splitters: Sequence[Splitter], folder: Path) -> str:
    """Print the table of docs/splitters.md; the row of benchmarks/README.md."""
    columns = ("MB/s", "x raw parse", "x raw parse beside it", *Quality.COLUMNS)
    print("\n| files | splitter |", " | ".join(columns), "|")
    print("|---|---|" + "---|" * len(columns))
    speeds: list[str] = []
    shares: dict[str, list[str]] = {one.name: [] for one in splitters}
    for language in LANGUAGES:
        files = chosen(language, TARGET)
        paths = _written(files, folder)
        timed = _timed(splitters, language, paths, ROUNDS)
        size = sum(len(one.data) for one in files)
        speeds.append(f"{size / timed['raw parse'].seconds / 1e6:.1f}")
        title = f"{language}: {len(files)} files, {size / 1e6:.1f} MB"
        for one in splitters:
            found = timed[one.name]
            ratios = [f"{found.share:.2f}", f"{found.beside:.2f}"]
            shares[one.name].append(" and ".join(ratios))
            shown = [one.name, f"{size / found.seconds / 1e6:.1f}", *ratios]
            if one.name == "raw parse":
                shown += ["-"] * len(Quality.COLUMNS)
            else:
                shown += quality(files, one.pieces(language, paths), TARGET).shown()
            print(f"| {title} |", " | ".join(shown), "|", flush=True)
            title = ""
    said = {name: ", ".join(those) for name, those in shares.items()}
    return (
        f"| splitting Python, C, Go, TypeScript | a plain tree-sitter parse of the same files, "
        f"{', '.join(speeds)} MB/s, alone and beside each: llama-index {said['llama-index']} x; "
        f"chonkie {said['chonkie']} x | {said['ours']} x; of the three the only one whose pieces"
        " are exact, within the target and tear no line ([how](../docs/splitters.md#measured)) |"
    )


def _alone(splitters: Sequence[Splitter], folder: Path) -> str:
    """Print the table of docs/splitters.md; the row of benchmarks/README.md."""
    print("\n| largest files | size | raw parse | ours | memory: raw parse | ours |")
    print("|---|---|---|---|---|---|")
    rows = {}
    for one in largest():
        paths = _written([one], folder)
        timed = _timed(splitters[:2], one.language, paths, 3)
        held = [_memory(name, one.language, paths[0]) / len(one.data) for name in OURS]
        seconds = [f"{timed[name].seconds:.2f} s" for name in OURS]
        times = [f"{each:.1f} x" for each in held]
        name, size = one.name.rpartition("/")[2], f"{len(one.data) / 1e6:.2f} MB"
        print(f"| {name} | {size} |", " | ".join([*seconds, *times]), "|", flush=True)
        rows[name] = (
            f"| a file of {len(one.data) / 1e6:.1f} MB of C | a plain parse, {seconds[0]}, "
            f"{times[0]} the file's size of memory | {seconds[1]}, {times[1]} |"
        )
    return rows["sqlite3.c"]


def _memory(name: str, language: str, path: Path) -> int:
    with ExitStack() as stack:
        return _start(name, stack).memory(language, path)


def main() -> None:
    _install_peers()
    print(f"\nSplitting, target {TARGET} (medians of {ROUNDS}, {cpu_count()} cores, ", end="")
    print(f"Python {platform.python_version()})")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="benchmark-")))
        splitters = [_start(name, stack) for name in NAMES]
        rows = [_compare(splitters, folder), _alone(splitters, folder)]
    print("\nFor benchmarks/README.md:\n")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
