"""How long `orchestrator list` takes with 1,000 runs, every other one merged by `git merge`.

Against `orchestrator --help`: what lies between is reading the runs, and asking git for merges.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.help import SCRIPT
from benchmarks.measure import compare, show
from orchestrator.outcome import Outcome, Verdict
from orchestrator.records import Records
from orchestrator.task import Task

RUNS = 1000
ROUNDS = 15
WHO = "committer B <b@localhost> 1700000000 +0000\n"


def _commit(mark: int, branch: str, *parents: int) -> str:
    """One commit, as `git fast-import` reads it; its first parent is the one it goes on with."""
    words = [f"{word} :{each}\n" for word, each in zip(("from", "merge"), parents, strict=False)]
    file = f"M 644 inline file{mark % 50}\ndata <<.\n{mark}\n.\n"
    return f"commit refs/heads/{branch}\nmark :{mark}\n{WHO}data 0\n{''.join(words)}{file}\n"


def _history() -> Iterator[str]:
    """For each run its own commit, and one of main's, which merges every other."""
    yield _commit(1, "main")
    main = 1
    for run in range(RUNS):
        tip, after = 2 * run + 2, 2 * run + 3
        yield _commit(tip, f"agent/{run}", main)
        yield _commit(after, "main", main, *([tip] if run % 2 else []))
        main = after


def _repository(path: Path) -> list[str]:
    """Make it; its commits by their marks, the first of which is 1."""
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
    marks = path / "marks"
    order = ["git", "-C", path, "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(order, input="".join(_history()).encode(), check=True)
    named = dict(line.split() for line in marks.read_text().splitlines())
    return ["", *(named[f":{mark}"] for mark in range(1, len(named) + 1))]


def _runs(home: Path, repository: Path, commits: list[str]) -> None:
    task = Task(repository=str(repository), prompt="mend the sum of two numbers")
    for run in range(RUNS):
        base = commits[2 * run + 1]
        with Records(home).begin(
            task, repository=str(repository), git_dir=repository / ".git", base=base, base_tree=base
        ) as held:
            held.update(
                state="finished",
                outcome=Outcome.DONE,
                verdict=Verdict.PASS,
                tip=commits[2 * run + 2],
                branch=f"agent/{run}",
            )


def main() -> None:
    with TemporaryDirectory(prefix="benchmark-") as folder:
        home, repository = Path(folder) / "home", Path(folder) / "repository"
        _runs(home, repository, _repository(repository))
        env = {**os.environ, "ORCHESTRATOR_HOME": str(home)}

        def call(*words: str) -> str:
            command = [str(SCRIPT), *words]
            done = subprocess.run(
                command, env=env, cwd=repository, check=True, stdout=subprocess.PIPE
            )
            return done.stdout.decode()

        assert call("list").count(" merged ") == RUNS // 2
        candidates = {
            "orchestrator --help": lambda: call("--help"),
            "orchestrator list": lambda: call("list"),
            "orchestrator list --json": lambda: call("list", "--json"),
        }
        show(f"{RUNS:,} runs", compare(candidates, ROUNDS), "orchestrator --help", ROUNDS)


if __name__ == "__main__":
    main()
