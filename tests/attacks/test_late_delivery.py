"""X03, X06: what stands in the way of a branch is reported and left alone, and the work is kept."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.cli.main import call
from orchestrator.delivery import publish
from orchestrator.errors import ConflictError, GitError
from orchestrator.events import Judged
from orchestrator.outcome import Outcome
from orchestrator.records import Records
from tests.conftest import git
from tests.exchange import NOTE, Exchange
from tests.orchestrator.run.conftest import desk  # noqa: F401 - a fixture

EDIT = "echo '# more' >> README.md"
BUILD = "printf 'all:\\n\\ttrue\\n' > Makefile"


@pytest.fixture
def locked(desk, monkeypatch):
    """A run whose branch's ref is locked when it should be written; the lock, and the record."""
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(desk.home))
    monkeypatch.chdir(desk.repository)

    def run(script: str):
        def lock(event):
            if isinstance(event, Judged):
                (record,) = Records(desk.home).all()
                path = desk.repository / f".git/refs/heads/agent/{record.id}.lock"
                path.parent.mkdir()
                path.write_bytes(b"")

        ran = desk.run(script, watch=lock)
        return desk.repository / f".git/refs/heads/agent/{ran.record.id}.lock", ran.record

    return run


def test_x06_a_locked_ref_leaves_the_outcome_and_is_told_with_what_to_type(locked, capsys):
    lock, record = locked(EDIT)
    assert (record.state, record.outcome, record.branch) == ("finished", Outcome.DONE, "")
    assert (record.exit_code, lock.exists()) == (1, True)
    assert f"Branch agent/{record.id} is locked" in record.message
    assert call(["show", record.id]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"then `orchestrator merge {record.short}` writes it" in shown
    assert f"next: orchestrator diff {record.short} orchestrator merge {record.short}" in shown


def test_x06_a_branch_is_written_later_by_the_command_that_was_named(locked, desk):
    lock, record = locked(EDIT)
    git(desk.repository, "branch", "stable")
    assert call(["merge", record.short, "--into", "stable"]) == 1
    assert lock.exists()
    lock.unlink()
    assert call(["merge", record.short, "--into", "stable"]) == 0
    after = Records(desk.home).load(record.id)
    assert (after.branch, after.unpublished) == (f"agent/{record.id}", "")
    assert git(desk.repository, "show", "stable:README.md") == b"# Tiny\n# more\n"
    assert after.exit_code == 0


def test_x06_what_needs_a_review_is_written_by_the_approval(locked, desk):
    lock, record = locked(BUILD)
    assert f"`orchestrator approve {record.short}` writes it" in record.message
    lock.unlink()
    assert call(["approve", record.short, "--by", "Ada"]) == 0
    assert git(desk.repository, "show", f"agent/{record.id}:Makefile").startswith(b"all:")


def test_x06_a_stale_index_lock_is_in_nobodys_way_and_stays(desk):
    lock = desk.repository / ".git/index.lock"
    lock.write_bytes(b"stale")
    assert desk.run(EDIT).record.outcome is Outcome.DONE
    assert lock.read_bytes() == b"stale"


def test_x03_of_two_that_publish_one_branch_one_wins(tmp_path):
    exchange = Exchange.create(tmp_path, {"a.txt": b"one\n"})
    first = exchange.admit({b"a.txt": ("100644", b"two\n")})
    tips = [first.commit] * 4 + [exchange.quarantine.squash(first.commit, NOTE)] * 4

    def attempt(tip: str) -> str:
        try:
            return publish(exchange.repository, exchange.quarantine, "r1", tip).commit
        except (ConflictError, GitError) as error:
            return type(error).__name__

    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(attempt, tips))
    winner = exchange.repository.branch("agent/r1")
    assert winner in tips
    losers = [each for each, tip in zip(ended, tips, strict=True) if tip != winner]
    assert set(losers) <= {"ConflictError", "GitError"}
    subprocess.run(["git", "-C", str(exchange.user), "fsck", "--strict"], check=True)
