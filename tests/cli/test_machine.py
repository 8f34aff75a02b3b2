"""gc: what is left over."""

import os
import time

from orchestrator.record import Owner
from orchestrator.records import Records
from orchestrator.task import Task
from tests.cli.conftest import git


def begin(home, repository):
    return Records(home).begin(
        Task(repository=".", prompt="mend"),
        repository=str(repository),
        git_dir=repository / ".git",
        base=git("rev-parse", "HEAD"),
        base_tree=git("rev-parse", "HEAD^{tree}"),
    )


def dead(home, repository) -> str:
    """A run whose process is gone, as its record says."""
    with begin(home, repository) as held:
        held.update(owner=Owner(os.getpid(), "an earlier boot", ""))
    return held.record.id


def test_a_killed_run_gets_its_end(repository, orchestrator, home):
    run = dead(home, repository)
    assert orchestrator("gc", "--dry-run", "--json").json[-1]["what"] == f"run {run} as interrupted"
    assert Records(home).load(run).state == "running"
    orchestrator("gc")
    assert Records(home).load(run).state == "interrupted"


def test_nothing_to_remove_is_said(repository, orchestrator, no_engine):
    said = orchestrator("gc")
    assert (said.out, said.err.splitlines()[-1]) == (b"", "There is nothing to remove.")


def test_a_live_run_is_left_alone(repository, orchestrator, home):
    with begin(home, repository) as held:
        orchestrator("gc", "--max-age", "0")
        assert Records(home).load(held.record.id).state == "running"


def test_without_an_engine_records_are_still_tidied(repository, orchestrator, home, no_engine):
    run = dead(home, repository)
    said = orchestrator("gc")
    assert (said.code, "containers and images are left alone" in said.err) == (0, True)
    assert said.text == f"mark run {run} as interrupted\n"


def test_only_old_runs_and_packs_go(repository, orchestrator, home, no_engine):
    runs = []
    for created in (time.time() - 9 * 86_400, time.time()):
        with begin(home, repository) as held:
            runs.append(held.update(state="finished", created=created).id)
    (home / "packs").mkdir()
    for name in ("old.pack", "old.idx", "new.pack"):
        (home / "packs" / name).touch()
    for name in ("old.pack", "old.idx"):
        os.utime(home / "packs" / name, (0, 0))
    said = orchestrator("gc", "--max-age", "7")
    assert said.text == f"remove run {runs[0]}\nremove pack old.pack\n"
    assert [run.id for run in Records(home).all()] == [runs[1]]
    assert os.listdir(home / "packs") == ["new.pack"]


def test_a_record_that_cannot_be_read_is_kept(repository, orchestrator, home, no_engine):
    (home / "runs" / "damaged").mkdir(parents=True)
    said = orchestrator("gc", "--max-age", "0")
    assert "the record of run damaged cannot be read" in said.err
    assert (home / "runs" / "damaged").is_dir()


def test_images_stay_while_a_run_of_ours_is_at_work(orchestrator, home, repository, mended):
    order = ("gc", "--dry-run", "--max-age", "0", "--json")
    assert any(each["what"].startswith("image ") for each in orchestrator(*order).json)
    with begin(home, repository):
        assert not any(each["what"].startswith("image ") for each in orchestrator(*order).json)
