"""Approving, merging and discarding, and what stands in the way."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.events import Approved, Merged
from orchestrator.journal import read
from orchestrator.records import Records
from tests.cli.conftest import Past, git


@pytest.fixture(scope="session")
def linked(tmp_path_factory) -> Past:
    command = ("run", "--", "ln", "-s", "sums.py", "link")
    return Past.of(tmp_path_factory.mktemp("linked"), *command, code=4)


@pytest.fixture
def odd(linked, copied) -> str:
    """A run that needs a review."""
    run = copied(linked)
    git("branch", "release")
    return run


@pytest.fixture
def blocked(repository, orchestrator) -> str:
    command = "mkdir .github; echo x > .github/CODEOWNERS"
    return orchestrator("run", "--json", "--", "sh", "-c", command).json["id"]


def test_a_passed_change_is_merged(mended, orchestrator, home):
    git("branch", "release")
    said = orchestrator("merge", "--into", "release", "--json")
    merged = git("rev-parse", "release")
    assert said.json == {"run": mended, "branch": "release", "commit": merged}
    assert git("rev-parse", "release^2") == git("rev-parse", f"agent/{mended}")
    record = Records(home).load(mended)
    journal = [entry.event for entry in read(Records(home).folder(mended).journal)]
    assert (record.merged, journal[-1]) == (merged, Merged(branch="release", commit=merged))


def test_merging_again_changes_nothing(mended, orchestrator, home):
    git("branch", "release")
    orchestrator("merge", "--into", "release")
    merged = git("rev-parse", "release")
    later = git("commit-tree", "release^{tree}", "-p", "release", "-m", "later")
    git("update-ref", "refs/heads/release", later)
    folder = Records(home).folder(mended)
    before = (folder.record.read_bytes(), folder.journal.read_bytes())
    said = orchestrator("merge", "--into", "release")
    assert (said.code, said.text) == (
        0,
        f"Run {mended} is already merged into release as {merged[:10]}.\n",
    )
    assert (folder.record.read_bytes(), folder.journal.read_bytes()) == before


def test_the_first_merge_is_kept(mended, orchestrator, home):
    git("branch", "release")
    git("branch", "stage")
    first = orchestrator("merge", "--into", "release", "--json").json["commit"]
    second = orchestrator("merge", "--into", "stage", "--json").json["commit"]
    assert second == git("rev-parse", "stage") != first
    assert Records(home).load(mended).merged == first


def test_a_merge_in_a_copy_says_that_nobody_else_sees_it(mended, orchestrator, home):
    git("branch", "release")
    with Records(home).hold(mended) as held:
        task = replace(held.record.task, repository="https://example.org/r.git")
        copy = held.update(task=task).git_dir
    said = orchestrator("merge", "--into", "release")
    assert said.err == f"note: this is the local copy {copy}; nothing was pushed.\n"


def test_files_in_use_are_left_to_their_owner(mended, orchestrator):
    said = orchestrator("merge")
    assert said.code == 2
    assert f"merge --no-ff agent/{mended}`" in said.err
    assert git("status", "--porcelain") == ""


def test_a_review_comes_before_merging(odd, orchestrator, home):
    assert orchestrator("merge", "--into", "release").code == 4
    said = orchestrator("approve", "--json")
    record = Records(home).load(odd)
    assert said.json == {"run": odd, "tree": record.tree, "by": "Ada"}
    assert record.approved
    journal = [entry.event for entry in read(Records(home).folder(odd).journal)]
    assert journal[-1] == Approved(tree=record.tree, by="Ada")
    assert orchestrator("merge", "--into", "release").code == 0


def test_a_red_run_is_merged_only_when_somebody_says_so(repository, orchestrator):
    git("branch", "release")
    orchestrator("run", "--check", "false", "--", "sh", "-c", "echo new > new.txt")
    said = orchestrator("merge", "--into", "release")
    assert (said.code, "ended as checks_failed" in said.err) == (4, True)
    orchestrator("approve")
    assert orchestrator("merge", "--into", "release").code == 0


def test_what_can_be_typed_next_works(mended, orchestrator):
    command = orchestrator("show").text.splitlines()[-1].strip()
    assert command == f"git -C {Path.cwd()} merge --no-ff agent/{mended}"
    git(*command.split()[1:], "-m", "merged")
    assert git("log", "-1", "--format=%s") == "merged"


@pytest.mark.parametrize("kept", [True, False])
def test_a_merge_by_hand_is_seen(mended, orchestrator, kept):
    git("merge", "--no-ff", "-m", "merged", f"agent/{mended}")
    if not kept:
        git("branch", "-d", f"agent/{mended}")
    merged = git("rev-parse", "HEAD")
    assert orchestrator("show", "--json").json["merged"] == merged
    *_, head, last = orchestrator("show").text.splitlines()
    assert (head, last) == ("next:", f"  orchestrator diff {mended[-5:]}")
    assert f"(1 commit, merged as {merged[:10]})" in orchestrator("show").text
    assert orchestrator("list").text.splitlines()[1].split()[3] == "merged"
    assert orchestrator("list", "--json").json == [orchestrator("show", "--json").json]


def test_a_merge_by_hand_is_not_told_as_ours(mended, orchestrator, home):
    git("merge", "--no-ff", "-m", "merged", f"agent/{mended}")
    merged = git("rev-parse", "HEAD")
    said = orchestrator("merge").text
    assert said == f"Run {mended} is already merged into main as {merged[:10]}.\n"
    assert Records(home).load(mended).merged == merged


def test_a_fast_forward_is_seen_when_the_branch_went_on(mended, orchestrator):
    git("merge", "--ff-only", f"agent/{mended}")
    git("commit", "--allow-empty", "-m", "later")
    (listed,) = orchestrator("list", "--json").json
    assert listed["merged"] == orchestrator("show", "--json").json["merged"] == listed["tip"]


def test_a_look_at_the_branch_is_no_merge(mended, orchestrator):
    git("switch", f"agent/{mended}")
    assert orchestrator("list", "--json").json[0]["merged"] == ""
    git("switch", "--detach")
    assert orchestrator("list", "--json").json[0]["merged"] == ""


def test_each_of_several_runs_has_its_own_merge(mended, orchestrator):
    git("merge", "--no-ff", "-m", "first", f"agent/{mended}")
    first = git("rev-parse", "HEAD")
    command = ("run", "--json", "--", "sh", "-c")
    later = [orchestrator(*command, f"echo {n} > {n}").json["id"] for n in ("one", "two")]
    git("switch", "-c", "stage", f"agent/{later[0]}")
    git("commit", "--allow-empty", "-m", "staged")
    git("switch", "main")
    git("merge", "--no-ff", "-m", "second", "stage")
    second = git("rev-parse", "HEAD")
    git("commit", "--allow-empty", "-m", "last")
    listed = {each["id"]: each["merged"] for each in orchestrator("list", "--json").json}
    assert listed == {mended: first, later[0]: second, later[1]: ""}


def test_a_run_whose_repository_is_gone_is_shown(mended, orchestrator):
    Path.cwd().rename(Path.cwd().with_name("elsewhere"))
    assert orchestrator("show", mended).code == 0
    assert orchestrator("list", "--all").code == 0


def test_a_branch_that_was_deleted_unmerged_is_no_merge(mended, orchestrator):
    git("branch", "-D", f"agent/{mended}")
    git("gc", "-q", "--prune=now")
    said = orchestrator("show", "--json")
    assert (said.code, said.json["merged"]) == (0, "")


def test_an_approval_of_another_tree_does_not_count(odd, orchestrator, home):
    orchestrator("approve", "--by", "Grace")
    with Records(home).hold(odd) as held:
        held.update(tree="0" * 40)
    assert orchestrator("merge", "--into", "release").code == 4


def test_one_name_approves_once(odd, orchestrator, home):
    orchestrator("approve")
    said = orchestrator("approve")
    assert (said.code, said.text.splitlines()[0]) == (0, "Already approved by Ada.")
    assert len(Records(home).load(odd).approvals) == 1


def test_what_is_done_needs_no_approval(mended, orchestrator):
    said = orchestrator("approve")
    assert (said.code, said.err) == (2, f"error: Run {mended} is done and needs no approval.\n")


def test_a_discarded_run_cannot_be_approved(odd, orchestrator):
    orchestrator("discard")
    said = orchestrator("approve")
    assert (said.code, said.err) == (2, f"error: Run {odd} was discarded.\n")


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"tip": "", "tree": "{base_tree}", "branch": ""}, "changed nothing; there is nothing to"),
        ({"branch": ""}, "has no branch; there is nothing to approve"),
        ({"state": "interrupted", "outcome": None}, "was interrupted; there is nothing to"),
    ],
)
def test_without_a_branch_there_is_nothing_to_approve(odd, orchestrator, home, known, message):
    with Records(home).hold(odd) as held:
        base_tree = held.record.base_tree
        held.update(
            **{key: value and value.format(base_tree=base_tree) for key, value in known.items()}
        )
    said = orchestrator("approve")
    assert (said.code, f"Run {odd} {message}" in said.err) == (2, True)


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_branch_that_is_tidied_away_after_its_merge_stays_merged(mended, orchestrator, by_hand):
    if by_hand:
        git("merge", "--no-ff", "-m", "merged", f"agent/{mended}")
    else:
        git("branch", "release")
        orchestrator("merge", "--into", "release")
    merged = git("rev-parse", "HEAD" if by_hand else "release")
    orchestrator("discard")
    shown = orchestrator("show").text
    assert f"  branch      agent/{mended} (1 commit, merged as {merged[:10]}, discarded)\n" in shown
    assert orchestrator("list").text.splitlines()[1].split()[3] == "merged"


def test_a_branch_that_was_deleted_by_git_can_be_brought_back(mended, orchestrator):
    git("branch", "-D", f"agent/{mended}")
    shown = orchestrator("show").text
    assert f"  branch      agent/{mended} (1 commit, deleted)\n" in shown
    command = shown.splitlines()[-1].strip()
    git(*command.split()[1:])
    assert f"  branch      agent/{mended} (1 commit)\n" in orchestrator("show").text


def test_a_run_is_discarded_once(mended, orchestrator):
    orchestrator("discard")
    assert orchestrator("discard").text == f"Run {mended} was already discarded.\n"


def test_a_block_is_lifted_by_nobody(blocked, orchestrator):
    assert orchestrator("merge").code == 3
    said = orchestrator("approve")
    assert said.code == 3
    assert said.err == (
        f"error: Run {blocked} is blocked, which no approval lifts:"
        f" `orchestrator show {blocked[-5:]}` says why.\n"
    )


def test_a_discarded_branch_is_gone_and_its_patch_stays(mended, orchestrator, home):
    branch = f"agent/{mended}"
    tip = git("rev-parse", branch)
    said = orchestrator("discard", "--json")
    assert said.json == {"run": mended, "branch": branch, "removed": True, "commit": tip}
    assert git("for-each-ref", "refs/heads/agent") == ""
    assert orchestrator("diff").out != b""
    assert orchestrator("merge").err == (
        f"error: Run {mended} was discarded: `git branch {branch} {tip}` brings its branch back,"
        " for `git merge`.\n"
    )
    assert orchestrator("list").text.splitlines()[1].split()[3] == "discarded"


def test_how_a_discarded_branch_comes_back_is_said(mended, orchestrator):
    branch = f"agent/{mended}"
    tip = git("rev-parse", branch)
    said = orchestrator("discard").text
    assert said == (
        f"Run {mended} is discarded: {branch} is deleted;"
        f" `git branch {branch} {tip}` brings it back.\n"
    )
    git(*said.split("`")[1].split()[1:])
    assert git("rev-parse", branch) == tip


def test_a_run_without_a_change_has_nothing_to_merge(repository, orchestrator):
    run = orchestrator("run", "--json", "--", "true").json["id"]
    said = orchestrator("merge")
    assert (said.code, f"Run {run} has no branch" in said.err) == (2, True)


def test_a_run_at_work_is_left_alone(mended, orchestrator, home):
    with Records(home).hold(mended):
        for verb in ("merge", "discard", "approve"):
            said = orchestrator(verb)
            assert (said.code, f"Run {mended} is in use" in said.err) == (2, True)


def test_a_discarded_change_is_not_approved(mended, orchestrator):
    orchestrator("discard")
    said = orchestrator("approve")
    assert (said.code, said.err) == (2, f"error: Run {mended} was discarded.\n")


def test_a_branch_that_a_killed_run_could_not_write_down_is_deleted(mended, orchestrator, home):
    with Records(home).hold(mended) as held:
        held.update(branch="")
    assert orchestrator("discard", "--json").json["removed"] is True
    assert git("for-each-ref", "refs/heads/agent") == ""


@pytest.mark.parametrize("verb", ["merge", "approve", "discard"])
def test_outside_of_a_repository_a_run_is_named(seen, orchestrator, tmp_path, verb):
    said = orchestrator(verb, "-C", str(tmp_path))
    assert (said.code, "This is no repository: name the run" in said.err) == (2, True)
    assert orchestrator("show", "--json", seen).json["branch"] == f"agent/{seen}"
