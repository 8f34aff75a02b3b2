"""X14: `kill -9` at each change of the disk, and two patches at once.

Each command really kills itself there: see tests/killed_patch.py.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from orchestrator import pieces
from orchestrator.errors import PieceError
from orchestrator.parser import Parser
from orchestrator.pieces import Cut
from orchestrator.rejoin import Way, rejoin

ROOT = Path(__file__).parents[2]
OLD = b"para-a\n\npara-b\n\npara-c\n"
NEW = b"para-a\n\nedited\n\n"  # of three pieces come two


@dataclass
class Work:
    """A file, the folder of its pieces, and a home."""

    top: Path

    @property
    def source(self) -> Path:
        return self.top / "work/notes.txt"

    @property
    def folder(self) -> Path:
        return self.top / "pieces"

    @property
    def home(self) -> Path:
        return self.top / "home"

    def start(self, *arguments: str, step: int = 0) -> subprocess.Popen:
        program = [sys.executable, "-B", "-m", "tests.killed_patch", str(step), *arguments]
        env = {"PATH": os.environ["PATH"], "TMPDIR": str(self.top / "tmp"), "HOME": str(self.top)}
        env |= {"ORCHESTRATOR_HOME": str(self.home)}
        pipe = subprocess.PIPE
        return subprocess.Popen(program, cwd=ROOT, env=env, stdout=pipe, stderr=pipe)

    def split(self, folder: str) -> None:
        out = str(self.top / folder)
        with Parser() as parser:
            pieces.split(str(self.source), Cut(natural=True), self.home, parser, out)

    def patch(self) -> None:
        with Parser() as parser:
            rejoin(str(self.folder), self.home, Way(), parser)

    def refresh(self) -> None:
        with Parser() as parser:
            pieces.refresh(str(self.folder), self.home, parser)

    def edit(self, number: int, content: bytes, folder: str = "pieces") -> None:
        (self.top / folder / f"notes-000{number}.txt").write_bytes(content)

    def everything(self) -> bytes:
        found = [path for top in (self.source.parent, self.folder) for path in top.rglob("*")]
        return b"|".join(path.read_bytes() for path in found if path.is_file())


def work(top: Path) -> Work:
    made = Work(top)
    for name in ("work", "tmp"):
        (top / name).mkdir(parents=True)
    made.source.write_bytes(OLD)
    made.split("pieces")
    return made


def check_whole(made: Work, data: bytes) -> None:
    """The source is `data`, its pieces are, and nothing else is there."""
    assert made.source.read_bytes() == data
    assert [*made.source.parent.iterdir()] == [made.source]
    index = msgspec.json.decode((made.folder / "index.json").read_bytes())
    parts = [Path(segment["path"]) for segment in index["segments"]]
    assert b"".join(part.read_bytes() for part in parts) == data
    names = {part.name for part in parts} | {"index.json", "index.base", "index.patch"}
    assert {path.name for path in made.folder.iterdir()} <= names


def kills(top: Path, *arguments: str):
    """Yield after each kill of the same command on the same files, until it is not reached."""
    saved = top.with_name("saved")
    shutil.copytree(top, saved)
    for step in range(1, 1000):
        shutil.rmtree(top)
        shutil.copytree(saved, top)
        process = Work(top).start(*arguments, step=step)
        _, err = process.communicate()
        if process.returncode != -signal.SIGKILL:
            assert (process.returncode, err, step > 10) == (0, b"", True)
            return
        yield step


def edited(tmp_path: Path) -> Work:
    made = work(tmp_path / "top")
    made.edit(2, b"edited\n\n")
    made.edit(3, b"")
    return made


def test_a_patch_that_is_killed(tmp_path):
    """Old or new, never half; the same command brings it to its end."""
    made = edited(tmp_path)
    for _ in kills(made.top, "patch", "--index", str(made.folder)):
        assert made.source.read_bytes() in (OLD, NEW)
        made.patch()
        check_whole(made, NEW)
    check_whole(made, NEW)


def test_an_edit_after_a_patch_that_was_killed(tmp_path):
    """It is merged, refused or kept aside, and never lost."""
    made = edited(tmp_path)
    for _ in kills(made.top, "patch", "--index", str(made.folder)):
        path = made.folder / "notes-0001.txt"
        path.write_bytes(b"late\n" + path.read_bytes())
        with suppress(PieceError):
            made.patch()
        assert b"late\n" in made.everything()


def test_a_refresh_that_is_killed(tmp_path):
    made = work(tmp_path / "top")
    grown = OLD + b"\npara-d\n"
    made.source.write_bytes(grown)
    for _ in kills(made.top, "split", "--refresh", str(made.folder)):
        made.refresh()
        check_whole(made, grown)
    check_whole(made, grown)


def test_two_patches_of_one_index(tmp_path):
    made = work(tmp_path / "top")
    made.edit(2, b"edited\n\n")
    both = [made.start("patch", "--index", str(made.folder), "--json") for _ in range(2)]
    said = [msgspec.json.decode(process.communicate()[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(each["changed"] for each in said) == [False, True]
    check_whole(made, OLD.replace(b"para-b", b"edited"))


BEFORE_RENAME = -7
"""The step at which a patch has written the new source beside the old one."""


def test_two_patches_of_one_source(tmp_path):
    """From two indexes: the second waits for the first, and is refused; its edit stays there."""
    made = work(tmp_path / "top")
    made.split("others")
    made.edit(1, b"first\n\n")
    made.edit(1, b"second\n\n", "others")
    first = made.start("patch", "--index", str(made.folder), step=BEFORE_RENAME)
    try:
        assert os.WIFSTOPPED(os.waitpid(first.pid, os.WUNTRACED)[1])
        assert len([*made.source.parent.iterdir()]) == 2
        second = made.start("patch", "--index", str(made.top / "others"))
        turns = (line for line in second.stderr if b"-pieces-" in line)
        assert next(turns, b"").endswith(b".lock\n")
        os.kill(first.pid, signal.SIGCONT)
        said = [process.communicate()[1] for process in (first, second)]
        assert ([first.returncode, second.returncode], said[0]) == ([0, 1], b"")
    finally:
        first.kill()
    assert made.source.read_bytes() == OLD.replace(b"para-a", b"first")
    left = made.top / "others" / "notes-0001.txt"
    assert left.read_bytes() == b"second\n\n"
