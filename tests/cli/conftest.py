"""A real repository, a home folder of its own, and the program as a person types it."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from orchestrator.cli.main import call
from orchestrator.models.table import PROVIDERS


@dataclass(frozen=True, slots=True)
class Said:
    """How a command line ended and what it printed."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self):
        return msgspec.json.decode(self.out)


def git(*args: str) -> str:
    return subprocess.run(["git", *args], check=True, capture_output=True, text=True).stdout.rstrip(
        "\n"
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    """The only environment that the program sees: no keys, no colours, no CI."""
    known = [name for provider in PROVIDERS for name in provider.variables]
    for name in (*known, "NO_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def repository(tmp_path: Path, home: Path, monkeypatch) -> Path:
    """A repository with one commit, in which we stand."""
    (tmp_path / "r").mkdir()
    monkeypatch.chdir(tmp_path / "r")
    git("init", "-q", "-b", "main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    Path("sums.py").write_text("def add(a, b):\n    return a - b\n")
    Path("check.py").write_text("from sums import add\nassert add(2, 3) == 5\n")
    git("add", ".")
    git("commit", "-qm", "base")
    return tmp_path / "r"


@pytest.fixture
def orchestrator(home: Path, capfdbinary) -> Callable[..., Said]:
    """Call the program: `orchestrator("list", "--json")`."""

    def say(*arguments: str) -> Said:
        capfdbinary.readouterr()
        code = call(arguments)
        out, err = capfdbinary.readouterr()
        return Said(code, out, err.decode())

    return say


@pytest.fixture
def mended(repository: Path, orchestrator) -> str:
    """A finished run, by a command: its id."""
    done = orchestrator(
        *("run", "--json", "--check", "python3 check.py"),
        *("--", "sed", "-i", "s/a - b/a + b/", "sums.py"),
    )
    return done.json["id"]
