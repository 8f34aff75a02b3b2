"""An edit saved, and `kill -9`, at each change of the disk while `gc` removes old pieces.

The program really stops or kills itself there: see tests/killed_patch.py.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator import pieces
from orchestrator.parser import Parser
from orchestrator.pieces import Cut

ROOT = Path(__file__).parents[2]
STEPS = ("move aside", "drop the index", "drop the rest")


class Removal:
    """Pieces that nobody touched for ten days, and a `gc` that removes what is older than five."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "home"
        (top / "tmp").mkdir(parents=True)
        (top / "notes.txt").write_bytes(b"one\n")
        self.piece = self.split()
        for path in self.home.rglob("*"):
            os.utime(path, (time.time() - 864_000,) * 2)

    def split(self) -> Path:
        with Parser() as parser:
            written = pieces.split(str(self.top / "notes.txt"), Cut(), self.home, parser)
        return Path(written.index.segments[0].path)

    def start(self, step: int, *flags: str) -> subprocess.Popen:
        program = [sys.executable, "-B", "-m", "tests.killed_patch", str(step)]
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(self.top / "tmp"), "HOME": str(self.top)}
        env |= {"ORCHESTRATOR_HOME": str(self.home), "DOCKER_HOST": "unix:///nowhere.sock"}
        pipe, words = subprocess.PIPE, ("gc", *(flags or ("--max-age", "5")))
        return subprocess.Popen([*program, *words], cwd=ROOT, env=env, stdout=pipe, stderr=pipe)

    def end(self, process: subprocess.Popen) -> tuple[int, str]:
        with process:
            said, _ = process.communicate()
        return process.returncode, said.decode()

    @property
    def left(self) -> list[Path]:
        return [path for path in (self.home / "pieces").rglob("*") if path.is_file()]


@pytest.fixture
def removal(tmp_path):
    return Removal(tmp_path / "top")


def test_an_edit_saved_after_the_look_is_kept(removal):
    process = removal.start(-1)
    try:
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        removal.piece.write_bytes(b"edited\n")
        os.kill(process.pid, signal.SIGCONT)
        assert removal.end(process) == (0, "")
    finally:
        process.kill()
    assert removal.piece.read_bytes() == b"edited\n"
    assert {path.parent for path in removal.left} == {removal.piece.parent}


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1), ids=STEPS)
def test_a_removal_that_was_killed_is_brought_to_its_end(removal, step):
    assert removal.end(removal.start(step)) == (-signal.SIGKILL, "")
    assert removal.end(removal.start(0))[0] == 0
    assert [*(removal.home / "pieces").iterdir()] == []


def test_an_edit_after_a_removal_that_was_killed_is_put_back(removal):
    assert removal.end(removal.start(2)) == (-signal.SIGKILL, "")
    (aside,) = (removal.home / "pieces").iterdir()
    (aside / removal.piece.name).write_bytes(b"edited\n")
    assert removal.end(removal.start(0)) == (0, "")
    assert removal.piece.read_bytes() == b"edited\n"


PLAIN = ("--image-space", "1000g")
"""Flags with which a `gc` removes nothing for its age."""


def test_every_gc_brings_a_removal_to_its_end_that_was_killed(removal):
    assert removal.end(removal.start(3)) == (-signal.SIGKILL, "")
    for flags in ((*PLAIN, "-n"), PLAIN):
        code, said = removal.end(removal.start(0, *flags))
        assert (code, said.split()[-3:]) == (0, ["remove", "pieces", removal.piece.parent.name])
    assert [*(removal.home / "pieces").iterdir()] == []


def test_every_gc_puts_back_what_a_killed_one_had_not_decided(removal):
    assert removal.end(removal.start(2)) == (-signal.SIGKILL, "")
    assert removal.end(removal.start(0, *PLAIN)) == (0, "")
    assert removal.piece.read_bytes() == b"one\n"


@pytest.mark.parametrize(("edit", "places"), [(b"one\n", 1), (b"edited\n", 2)])
def test_pieces_that_cannot_be_put_back_go_when_nothing_is_lost(removal, edit, places):
    assert removal.end(removal.start(2)) == (-signal.SIGKILL, "")
    (aside,) = (removal.home / "pieces").iterdir()
    assert removal.split() == removal.piece
    (aside / removal.piece.name).write_bytes(edit)
    assert removal.end(removal.start(0, *PLAIN))[0] == 0
    assert len({path.parent for path in removal.left}) == places


def test_no_step_is_left_out(removal):
    code, said = removal.end(removal.start(len(STEPS) + 1))
    assert (code, said) == (0, f"remove pieces {removal.piece.parent.name}\n")
