"""How long a person waits for `orchestrator --help`, against importing click alone."""

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import compare, show

ROUNDS = 15
SCRIPT = Path(sys.executable).with_name("orchestrator")


def _call(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    candidates = {
        "python -c 'import click'": lambda: _call(sys.executable, "-c", "import click"),
        "orchestrator --help": lambda: _call(str(SCRIPT), "--help"),
    }
    show("--help", compare(candidates, ROUNDS), "python -c 'import click'", ROUNDS)


if __name__ == "__main__":
    main()
