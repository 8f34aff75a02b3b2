"""Splitting real files, against a plain parse of them and the well-known chunkers of code.

Speed: all splitters on the same files in one run, taking turns, each in a process of its own.
Quality, of what they made in that run: whether the pieces join to the file, the largest piece, and
the cuts that tear what would have fitted, found by a judge that knows none of them. Then the
largest files, each alone: seconds, and the memory that a fresh process needs at its peak.
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

    def seconds(self, language: str, paths: Sequence[Path]) -> float:
        """That splitting all these files takes."""
        return float(self._ask("time", language, paths))

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


def _timed(
    splitters: Sequence[Splitter], language: str, paths: Sequence[Path], rounds: int
) -> Mapping[str, float]:
    """The median of the seconds that each takes; after one warm-up they take turns."""
    times: dict[str, list[float]] = {one.name: [] for one in splitters}
    for warm in range(rounds + 1):
        for one in splitters:
            seconds = one.seconds(language, paths)
            if warm:
                times[one.name].append(seconds)
    return {name: statistics.median(taken) for name, taken in times.items()}


def _compare(splitters: Sequence[Splitter], folder: Path) -> None:
    print("\n| files | splitter | MB/s | x raw parse |", " | ".join(Quality.COLUMNS), "|")
    print("|---|---|" + "---|" * (2 + len(Quality.COLUMNS)))
    for language in LANGUAGES:
        files = chosen(language, TARGET)
        paths = _written(files, folder)
        medians = _timed(splitters, language, paths, ROUNDS)
        size = sum(len(one.data) for one in files)
        title = f"{language}: {len(files)} files, {size / 1e6:.1f} MB"
        for one in splitters:
            seconds = medians[one.name]
            shown = [
                one.name,
                f"{size / seconds / 1e6:.1f}",
                f"{medians['raw parse'] / seconds:.2f}",
            ]
            if one.name == "raw parse":
                shown += ["-"] * len(Quality.COLUMNS)
            else:
                shown += quality(files, one.pieces(language, paths), TARGET).shown()
            print(f"| {title} |", " | ".join(shown), "|", flush=True)
            title = ""


def _alone(splitters: Sequence[Splitter], folder: Path) -> None:
    print("\n| largest files | size | raw parse | ours | memory: raw parse | ours |")
    print("|---|---|---|---|---|---|")
    for one in largest():
        paths = _written([one], folder)
        medians = _timed(splitters[:2], one.language, paths, 3)
        held = [_memory(name, one.language, paths[0]) / len(one.data) for name in OURS]
        print(
            f"| {one.name.rpartition('/')[2]} | {len(one.data) / 1e6:.2f} MB |",
            " | ".join(f"{medians[name]:.2f} s" for name in OURS),
            "|",
            " | ".join(f"{times:.1f} x" for times in held),
            "|",
            flush=True,
        )


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
        _compare(splitters, folder)
        _alone(splitters, folder)


if __name__ == "__main__":
    main()
