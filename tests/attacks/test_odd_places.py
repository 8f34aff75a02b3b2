"""C11, C13, C15: odd places, odd images, and readers that go away."""

import re
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli.main import call
from orchestrator.outcome import Outcome
from orchestrator.records import Records
from tests.conftest import git, tiny_repository

ROOT = Path(__file__).parents[2]


def test_c11_no_archive_of_a_container_is_ever_asked_for():
    # Unread, one blocks inspect, exec, kill and rm of the whole engine (Docker 20.10).
    asked = re.compile(r"get_archive|\.export\(|\}/archive")
    packages = ("orchestrator", "sandbox", "containers")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert [str(path) for path in sources if asked.search(path.read_text())] == []


def test_c11_a_reader_that_stops_in_the_middle_holds_up_nothing(engine, box):
    flood = box.channel.start(["cat", "/dev/zero"], seconds=60)
    next(flood)
    try:
        assert engine.client.api.inspect_container(box.id)["State"]["Running"]
        assert box.run(["echo", "fine"]).stdout == b"fine\n"
        assert box.id in [each["Id"] for each in engine.client.api.containers()]
    finally:
        flood.close()
    assert box.run(["pgrep", "-x", "cat"]).stdout == b""


@pytest.mark.parametrize("name", ["-dash 'quote\" $(touch x)", "new\nline", "ünï"])
def test_c15_a_repository_may_have_any_path(tmp_path, monkeypatch, capsys, name):
    tiny_repository(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    home = tmp_path / f"home {name}"
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(home))
    fixer = ("sh", "-c", "echo '# more' >> README.md")
    check = ("--check", "grep more README.md")
    assert call(["run", f"./{name}", "-q", *check, "--", *fixer]) == 0
    (record,) = Records(home).all()
    assert (record.outcome, record.task.repository) == (Outcome.DONE, str(tmp_path / name))
    assert git(tmp_path / name, "show", f"{record.branch}:README.md") == b"# Tiny\n# more\n"
    typed = capsys.readouterr().out.splitlines()[-1]
    if name.isprintable():  # a path that would drive a terminal is not shown as it is
        subprocess.run(["sh", "-c", f"{typed} --quiet --no-edit"], check=True, env=_somebody())
        assert git(tmp_path / name, "show", "main:README.md") == b"# Tiny\n# more\n"
    assert not (tmp_path / "x").exists()


def _somebody() -> dict[str, str]:
    who = {
        f"GIT_{role}_{key}": "x" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    return {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **who}


def test_c13_a_run_in_a_missing_image_says_what_to_do(tmp_path, monkeypatch, capsys):
    tiny_repository(tmp_path / "r")
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "home"))
    assert call(["run", str(tmp_path / "r"), "--image", "orchestrator/none:1", "--", "true"]) == 1
    assert "The image orchestrator/none:1 is missing" in capsys.readouterr().out
    (record,) = Records(tmp_path / "home").all()
    assert record.outcome is Outcome.WORKER_ERROR
