"""A real repository, a home folder of its own, and the program as a person types it."""

import gc
import os
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from orchestrator.cli import say
from orchestrator.cli.main import call
from orchestrator.models.table import PROVIDERS
from orchestrator.records import Records
from tests.again import have_again


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


DAY = "2026-01-01T00:00:00Z"
"""Of every commit: the same repository has the same base, and one image for all tests."""


def git(*args: str) -> str:
    dates = {"GIT_AUTHOR_DATE": DAY, "GIT_COMMITTER_DATE": DAY}
    done = subprocess.run(
        ["git", *args], check=True, capture_output=True, text=True, env=os.environ | dates
    )
    return done.stdout.rstrip("\n")


@pytest.fixture(autouse=True)
def back(monkeypatch) -> None:
    """-C and --home act on the process: each test leaves it where it was."""
    monkeypatch.chdir(Path.cwd())


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    """The only environment that the program sees: no keys, no colours, no CI."""
    known = [name for provider in PROVIDERS for name in provider.variables]
    for name in (*known, "CLAUDE_CODE_OAUTH_TOKEN", "NO_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(say, "LATE", 600.0)  # on a busy machine anything takes long
    return tmp_path / "home"


def build(path: Path) -> Path:
    """A repository with one commit, whose check is red."""
    path.mkdir()
    (path / "sums.py").write_text("def add(a, b):\n    return a - b\n")
    (path / "check.py").write_text("from sums import add\nassert add(2, 3) == 5\n")
    at = ("-C", str(path))
    git("init", "-q", "-b", "main", str(path))
    git(*at, "config", "user.name", "Ada")
    git(*at, "config", "user.email", "ada@example.org")
    git(*at, "add", ".")
    git(*at, "commit", "-qm", "base")
    return path


@pytest.fixture
def repository(tmp_path: Path, home: Path, monkeypatch) -> Path:
    """A repository in which we stand."""
    monkeypatch.chdir(build(tmp_path / "r"))
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


MEND = (
    "run",
    "--json",
    "--check",
    "python3 check.py",
    "--",
    "sed",
    "-i",
    "s/a - b/a + b/",
    "sums.py",
)


@dataclass(frozen=True, slots=True)
class Past:
    """A repository in which one run has finished, and the home of that run."""

    folder: Path
    run: str

    @classmethod
    def of(cls, folder: Path, *command: str, code: int = 0) -> "Past":
        """Carry out a command line that ends so, in a new repository."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(build(folder / "r"))
            patch.setenv("ORCHESTRATOR_HOME", str(folder / "home"))
            assert call(command) == code
        (run,) = Records(folder / "home").all()
        return cls(folder, run.id)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Past:
    """A run that mended the sum, for tests that only look."""
    return Past.of(tmp_path_factory.mktemp("finished"), *MEND)


@pytest.fixture
def copied(tmp_path: Path, home: Path, monkeypatch) -> Callable[[Past], str]:
    """Stand in a repository that is as one of a finished run: the id of the run."""

    def copy(past: Past) -> str:
        have_again(past.folder, tmp_path)
        monkeypatch.chdir(tmp_path / "r")
        return past.run

    return copy


@pytest.fixture
def mended(finished: Past, copied) -> str:
    """That run in a repository of the test's own, to be changed: its id."""
    return copied(finished)


@pytest.fixture
def seen(finished: Past, home: Path, monkeypatch) -> str:
    """The id of that run; we stand in its repository."""
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(finished.folder / "home"))
    monkeypatch.chdir(finished.folder / "r")
    return finished.run


@pytest.fixture
def no_engine(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    with warnings.catch_warnings():
        # docker-py leaves a socket that could not connect to the garbage collector, at any time.
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        yield
        gc.collect()
