"""X02: the disk of the host fills up while it records; the old record is intact and it is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.conftest import FILES, tiny_repository

SCRIPT = {
    "steps": [
        {"calls": [{"tool": "write_file", "arguments": {"path": "a.txt", "content": "a\n"}}]},
        {"calls": [{"tool": "bash", "arguments": {"command": "head -c 7000000 /dev/urandom > b"}}]},
        {"text": "Never said."},
    ]
}
PROGRAM = Path(sys.executable).with_name("orchestrator")
RUN = """
mount -t tmpfs -o size=$1 none "$ORCHESTRATOR_HOME"
"$2" run --json --model scripted:script.json "a task" > run.json
echo $? > status
"$2" show --json > show.json
find "$ORCHESTRATOR_HOME" -name 'tmp_*' -o -name '*.pack' -size +1M > left
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    repository = tiny_repository(tmp_path / "repository", FILES)
    (repository / "script.json").write_text(json.dumps(SCRIPT))
    (tmp_path / "home").mkdir()
    return repository


@pytest.mark.parametrize("size", ["4m", "12m"], ids=["arriving", "taken in"])
def test_x02_a_full_disk_of_the_host_keeps_the_record(desk, size):
    """First where the pack arrives, then where git takes in its objects."""
    own = {"ORCHESTRATOR_HOME": str(desk.parent / "home")}
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", RUN, "sh", size, PROGRAM]
    done = subprocess.run(command, cwd=desk, env=os.environ | own, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    ran, shown = (
        msgspec.json.decode((desk / f"{name}.json").read_bytes()) for name in ("run", "show")
    )
    assert (ran["outcome"], (desk / "status").read_text()) == ("disk_full", "1\n")
    assert ran["message"].startswith("The disk is full")
    assert shown == ran
    assert (desk / "left").read_text() == ""
    log = subprocess.run(
        ["git", "log", "--format=%s", f"main..{ran['branch']}"], cwd=desk, capture_output=True
    )
    assert log.stdout == b"write_file: a.txt\n"
