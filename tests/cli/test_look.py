"""Looking at runs: list, show, log, diff."""

import json
import re
import subprocess

from orchestrator.journal import Journal
from orchestrator.record import Owner
from orchestrator.records import Records
from orchestrator.task import Task
from tests.cli.conftest import build, git


def test_a_run_is_listed_shown_and_logged(seen, orchestrator):
    head, row = orchestrator("list").text.splitlines()
    assert head.split() == ["RUN", "BEGUN", "STATE", "VERDICT", "WORKER", "TASK"]
    assert row.split()[0] == seen
    assert row.endswith("done   pass     command  sed -i 's/a - b/a + b/' sums.py")
    assert orchestrator("show").text.splitlines()[1] == f"  run         {seen}"
    assert orchestrator("log").text.endswith("1 file +1 -1\n")


def test_the_same_as_json(seen, orchestrator):
    (listed,) = orchestrator("list", "--json").json
    shown = orchestrator("show", seen[:10], "--json").json
    assert listed == shown
    assert (shown["state"], shown["outcome"], shown["approved"]) == ("finished", "done", False)
    assert [each["checks"][0]["passed"] for each in shown["evidence"]] == [False, True]
    (change,) = orchestrator("log", "--json").json
    assert (change["kind"], change["commit"], change["files"]) == ("changed", shown["tip"], 1)


def test_the_journal_is_one_object_a_line(seen, orchestrator):
    lines = orchestrator("log", "--journal", "--json").text.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("run_started", "run_finished")


def test_following_a_finished_run_ends(seen, orchestrator):
    followed = orchestrator("log", "--follow")
    *_, end, why = followed.text.splitlines()
    assert re.search(r" done after \d+ s$", end)
    assert why.strip() == "1 commit, 1 check passed in a fresh container"
    assert followed.text == orchestrator("log", "--journal").text


def test_a_patch_applied_gives_the_tree_of_the_branch(seen, orchestrator, tmp_path):
    patch = orchestrator("diff").out
    git("worktree", "add", "--detach", str(tmp_path / "tree"), "main")
    subprocess.run(["git", "apply", "--index"], input=patch, check=True, cwd=tmp_path / "tree")
    assert git("-C", str(tmp_path / "tree"), "write-tree") == git("rev-parse", f"agent/{seen}:")


def test_a_patch_is_summed_up(seen, orchestrator):
    assert orchestrator("diff", "--stat").text == "sums.py  +1  -1\n1 file +1 -1\n"
    assert orchestrator("diff", "--json").json["files"] == [
        {
            "path": "sums.py",
            "status": "M",
            "old_mode": "100644",
            "new_mode": "100644",
            "added": 1,
            "removed": 1,
            "hunks": [
                {
                    "old_start": 1,
                    "old_lines": 2,
                    "new_start": 1,
                    "new_lines": 2,
                    "lines": [" def add(a, b):", "-    return a - b", "+    return a + b"],
                }
            ],
        }
    ]


def test_runs_of_other_repositories_are_left_out(seen, orchestrator, tmp_path, monkeypatch):
    monkeypatch.chdir(build(tmp_path / "other"))
    assert orchestrator("list", "--json").json == []
    assert len(orchestrator("list", "--all", "--json").json) == 1
    said = orchestrator("show")
    assert (said.code, said.err) == (
        2,
        "error: There is no run of this repository: see `orchestrator list --all`.\n",
    )


def test_a_repository_without_a_commit_has_no_run(seen, orchestrator, tmp_path, monkeypatch):
    git("init", "-q", str(tmp_path / "new"))
    monkeypatch.chdir(tmp_path / "new")
    assert orchestrator("list", "--json").json == []
    refused = "error: There is no run of this repository: see `orchestrator list --all`.\n"
    assert [orchestrator(verb).err for verb in ("show", "discard")] == [refused, refused]


def test_a_worktree_shows_the_runs_of_its_repository(seen, orchestrator, tmp_path):
    git("worktree", "add", "--detach", str(tmp_path / "tree"))
    assert len(orchestrator("-C", str(tmp_path / "tree"), "list", "--json").json) == 1


def test_a_damaged_record_is_listed(repository, orchestrator, home):
    (home / "runs" / "20260101-000000-aaaaa").mkdir(parents=True)
    said = orchestrator("list", "--all", "--json")
    assert said.json == [
        {"id": "20260101-000000-aaaaa", "reason": "No such file or directory", "state": "damaged"}
    ]
    assert "damaged" in orchestrator("list", "--all").text


def test_no_run_is_said(repository, orchestrator):
    said = orchestrator("list")
    assert (said.out, said.err) == (b"", "There is no run here: --all lists those elsewhere.\n")
    assert orchestrator("list", "--all").err == "There is no run yet.\n"


def test_no_change_is_said(repository, orchestrator):
    run = orchestrator("run", "--json", "--", "true").json["id"]
    nothing = f"Run {run} has no recorded change"
    for diff in (orchestrator("diff", "--stat"), orchestrator("diff")):
        assert (diff.code, diff.out, diff.err) == (0, b"", f"{nothing}.\n")
    assert orchestrator("log").err == f"{nothing}: --journal tells all that happened.\n"


def test_a_live_run_can_be_looked_at(repository, orchestrator, home):
    with Records(home).begin(
        Task(repository=".", prompt="mend"),
        repository=str(repository),
        git_dir=repository / ".git",
        base=git("rev-parse", "HEAD"),
        base_tree=git("rev-parse", "HEAD^{tree}"),
    ) as held:
        Journal(held.folder.journal).__exit__()
        assert orchestrator("show", "--json").json["state"] == "running"
        diff = orchestrator("diff")
        assert (diff.out, "has no recorded change" in diff.err) == (b"", True)
        assert orchestrator("diff", "--json").json["files"] == []
        assert orchestrator("log").out == b""
        assert f"  orchestrator log --follow {held.record.id[-5:]}" in orchestrator("show").text
        held.update(owner=Owner(held.record.owner.pid, "an earlier boot", ""))
        said = orchestrator("show").text
        assert said.startswith("interrupted\n")
        assert "spent" not in said
        assert f"  orchestrator diff {held.record.id[-5:]}" in said


def test_stdout_holds_nothing_but_the_patch(seen, orchestrator):
    said = orchestrator("diff").out
    assert said.startswith(b"diff --git a/sums.py b/sums.py\n")
    assert b"\x1b" not in said


def test_a_home_that_is_a_file_is_told(orchestrator, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "file"))
    said = orchestrator("list")
    assert (said.code, f"{tmp_path}/file is not a folder: name another" in said.err) == (2, True)
