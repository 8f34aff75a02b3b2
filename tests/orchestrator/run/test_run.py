"""The straight line: what a run hands back, and what it says when something goes wrong."""

import json
import shlex
import signal
from contextlib import suppress

import pytest
from docker.errors import NotFound

from orchestrator import recovery
from orchestrator.errors import RepositoryError
from orchestrator.events import (
    Changed,
    CheckFinished,
    Crashed,
    Delivered,
    Ignored,
    LeftOut,
    Output,
    Prepared,
    Recovered,
    Restarting,
    SetupFailed,
)
from orchestrator.machine import SandboxSettings
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.outcome import MOST, Outcome, Verdict
from orchestrator.settings import Settings
from sandbox.errors import EngineError
from tests.conftest import git
from tests.orchestrator.run.conftest import containers, kill_work

EDIT = "echo '# more' >> README.md"
WORKFLOW = "mkdir -p .github/workflows && echo 'on: push' > .github/workflows/ci.yml"


def scripted(*steps: Step) -> ScriptedModel:
    return ScriptedModel(Script(steps))


def test_a_change_becomes_a_branch_with_one_commit(desk):
    ran = desk.run(EDIT)
    assert (ran.record.outcome, ran.record.verdict) == (Outcome.DONE, Verdict.PASS)
    assert ran.git("rev-parse", f"agent/{ran.record.id}^{{tree}}") == ran.record.tree
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"
    assert ran.subjects == [f"command: sh -ec {shlex.quote(EDIT)}"]


def test_a_branch_in_the_way_of_ours_is_told_before_any_work(desk):
    git(desk.repository, "branch", "agent")
    with pytest.raises(RepositoryError, match="has a branch called agent"):
        desk.run(EDIT)
    assert not (desk.home / "runs").exists()


def test_nothing_is_left_running(desk):
    assert containers(desk.run("sleep 600 & sleep 0").record.id) == []


def test_a_worker_that_changes_nothing_leaves_no_branch(desk):
    ran = desk.run("true")
    assert (ran.record.outcome, ran.record.branch) == (Outcome.NO_CHANGE, "")
    assert ran.git("branch", "--list", "agent/*") == ""


def test_checks_are_red_on_the_base_and_green_in_a_second_container(desk):
    ran = desk.run(EDIT, checks=("grep more README.md",))
    shown = [(check.stage, check.passed, check.status) for check in ran.told(CheckFinished)]
    assert shown == [("base", False, 1), ("proof", True, 0)]
    assert ran.record.outcome is Outcome.DONE


def test_checks_that_pass_only_where_the_work_was_done_fail(desk):
    # The file is ignored: it is in the worker's container and not in the recorded tree.
    ran = desk.run("touch made.log; " + EDIT, checks=("test -f made.log",))
    assert ran.record.outcome is Outcome.CHECKS_FAILED
    assert ran.told(Ignored) == [Ignored(paths=("made.log",), total=1)]


def test_a_check_cannot_make_the_next_one_pass(desk):
    # The first check runs what the worker wrote; the second only looks at the files.
    checks = ("sh ./made.sh || true", "grep more README.md")
    ran = desk.run("echo 'echo more >> README.md' > made.sh", checks=checks)
    shown = [check.passed for check in ran.told(CheckFinished) if check.stage == "proof"]
    assert (shown, ran.record.outcome) == ([True, False], Outcome.CHECKS_FAILED)


def test_each_changing_tool_call_is_a_commit_and_reads_are_none(desk):
    model = scripted(
        Step(
            calls=(
                Call("write_file", {"path": "a.txt", "content": "a\n"}),
                Call("write_file", {"path": "b.txt", "content": "b\n"}),
            )
        ),
        Step(calls=(Call("read_file", {"path": "a.txt"}),)),
        Step(text="Both are written."),
    )
    ran = desk.run(model=model)
    assert ran.subjects == ["write_file: a.txt", "write_file: b.txt"]
    assert ran.git("log", "-1", "--format=%(trailers:only)", ran.record.branch) == (
        f"Run: {ran.record.id}\nStep: 1\nTool: write_file\nWorker: agent\nModel: scripted:script"
    )


def test_a_script_that_ends_early_is_no_success(desk):
    model = scripted(Step(text="Done."), Step(text="Never said."))
    ran = desk.run(model=model)
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert "1 of 2 steps" in ran.record.message


def test_a_blocked_change_stays_in_quarantine(desk):
    ran = desk.run(WORKFLOW)
    assert (ran.record.outcome, ran.record.branch) == (Outcome.BLOCKED, "")
    assert [finding.path for finding in ran.record.findings] == [".github/workflows/ci.yml"]
    assert ran.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_flood_of_findings_does_not_fill_the_record(desk):
    ran = desk.run("for n in $(seq 1000); do echo >./-$n; done")
    (changed,) = ran.told(Changed)
    assert (len(ran.record.findings), len(changed.findings)) == (MOST + 1, MOST + 1)
    assert ran.record.outcome is Outcome.BLOCKED


def test_a_refused_pack_does_not_stay_on_the_disk(desk):
    ran = desk.run("""printf '[submodule "x"]\\npath=x\\nurl=-u./evil\\n' > .gitmodules""")
    assert ran.record.outcome is Outcome.UNRECORDED
    assert list((desk.home / "runs" / ran.record.id).glob("**/incoming.pack")) == []


def test_a_change_that_was_blocked_and_taken_back_is_never_published(desk):
    model = scripted(
        Step(calls=(Call("bash", {"command": WORKFLOW}), Call("bash", {"command": EDIT}))),
        Step(calls=(Call("bash", {"command": "rm -r .github"}),)),
        Step(text="Done."),
    )
    ran = desk.run(model=model)
    assert (ran.record.outcome, len(ran.told(Changed))) == (Outcome.DONE, 3)
    assert ran.told(Delivered)[0].squashed
    assert len(ran.subjects) == 1
    assert ran.record.message.startswith("1 commit, ")


def test_a_change_for_review_is_published_and_says_so(desk):
    ran = desk.run("printf 'all:\\n\\ttrue\\n' > Makefile")
    assert ran.record.outcome is Outcome.NEEDS_REVIEW
    assert ran.git("show", f"{ran.record.branch}:Makefile").startswith("all:")


def test_what_a_background_process_wrote_last_is_recorded(desk):
    ran = desk.run("(while :; do date +%N > clock.txt; done) > /dev/null 2>&1 & sleep 0.3")
    assert ran.record.outcome is Outcome.DONE
    assert "clock.txt" in ran.git("ls-tree", "--name-only", ran.record.branch)


def test_a_repository_within_the_repository_is_named_and_no_success(desk):
    ran = desk.run(EDIT + "; git init -q inner; echo x > inner/x")
    assert ran.record.outcome is Outcome.UNRECORDED
    assert [event.paths for event in ran.told(LeftOut)] == [("inner/",)]
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"


def killing(desk, engine, times):
    """A watcher that kills the run's container after each of the first changes."""
    left = [None] * times

    def kill(event):
        if isinstance(event, Changed | Recovered) and left:
            left.pop()
            (run,) = (path.name for path in desk.home.glob("runs/2*"))
            kill_work(engine, run)

    return kill


def write(name):
    return Step(calls=(Call("write_file", {"path": name, "content": f"{name}\n"}),))


def test_a_dead_sandbox_is_opened_again_with_what_was_recorded(desk, engine):
    model = scripted(write("a.txt"), write("b.txt"), Step(text="Both are written."))
    ran = desk.run(model=model, watch=killing(desk, engine, 1))
    assert ran.record.outcome is Outcome.DONE
    assert ran.subjects == ["write_file: a.txt", "write_file: b.txt"]
    told = ran.told((Crashed, Restarting, Recovered))
    assert [type(event) for event in told] == [Crashed, Restarting, Recovered]
    assert told[1:] == [
        Restarting(attempt=1, of=5, seconds=1.0),
        Recovered(attempt=1, tree=ran.told(Changed)[0].tree),
    ]
    assert containers(ran.record.id) == []


def test_a_sandbox_that_dies_too_often_keeps_what_was_recorded(desk, engine, monkeypatch):
    monkeypatch.setattr(recovery, "RESTARTS", 1)
    ran = desk.run(model=scripted(write("a.txt"), write("b.txt")), watch=killing(desk, engine, 2))
    assert ran.record.outcome is Outcome.SANDBOX_LOST
    assert ran.subjects == ["write_file: a.txt"]
    assert [type(event) for event in ran.told((Crashed, Restarting, Recovered))] == [
        Crashed,
        Restarting,
        Recovered,
        Crashed,
    ]


def test_ctrl_c_while_a_dead_sandbox_is_waited_for_opens_no_other(desk, engine):
    kill = killing(desk, engine, 1)

    def interrupt(event):
        kill(event)
        if isinstance(event, Restarting):
            signal.raise_signal(signal.SIGINT)

    ran = desk.run(model=scripted(write("a.txt"), write("b.txt")), watch=interrupt)
    assert (ran.record.outcome, ran.subjects) == (Outcome.CANCELLED, ["write_file: a.txt"])
    assert [type(event) for event in ran.told((Crashed, Restarting, Recovered))] == [
        Crashed,
        Restarting,
    ]
    assert containers(ran.record.id) == []


def test_ctrl_c_keeps_what_was_done_and_leaves_no_container(desk):
    def interrupt(event):
        if isinstance(event, Changed):
            signal.raise_signal(signal.SIGINT)

    ran = desk.run(EDIT + "; sleep 0", watch=interrupt)
    assert (ran.record.outcome, ran.record.outcome.exit_code) == (Outcome.CANCELLED, 130)
    assert ran.subjects == ["command: sh -ec " + shlex.quote(EDIT + "; sleep 0")]
    assert containers(ran.record.id) == []


def test_a_time_limit_ends_the_run(desk):
    ran = desk.run(EDIT + "; sleep 600", seconds=3.0)
    assert (ran.record.outcome, ran.record.outcome.exit_code) == (Outcome.TIME, 124)
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"


def test_nothing_of_ours_stands_between_a_check_and_the_engine(desk):
    # Only the engine itself starts a process whose parent is outside the container's view.
    ran = desk.run(EDIT, checks=('test "$PPID" = 0',))
    assert [check.passed for check in ran.told(CheckFinished)] == [True, True]


def test_a_check_that_never_ends_ends_and_is_red(desk):
    ran = desk.run("true", checks=("sleep 600",), seconds=3.0)
    assert [(check.status, check.passed) for check in ran.told(CheckFinished)] == [(124, False)]
    assert ran.record.outcome is Outcome.CHECKS_FAILED


def test_python_leaves_nothing_in_the_record_by_running(desk):
    ran = desk.run("cd src && python3 -c 'import app'")
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_set_up_that_fails_says_which_command(desk):
    ran = desk.run(EDIT, setup=("echo first", "echo oh no >&2; exit 3"))
    assert ran.record.outcome is Outcome.WORKER_ERROR
    assert "exit 3" in ran.record.message


def test_all_that_a_failed_set_up_printed_is_kept_and_its_end_is_told(desk):
    ran = desk.run(EDIT, setup=("seq 100; echo oh no >&2; exit 3",))
    log = desk.home / "runs" / ran.record.id / "artifacts/setup.log"
    (failed,) = ran.told(SetupFailed)
    assert (failed.tail.splitlines()[-2:], failed.file) == (["100", "oh no"], str(log))
    assert log.read_text() == "".join(f"{number}\n" for number in range(1, 101)) + "oh no\n"
    assert str(log) in ran.record.message


def test_a_new_commit_runs_set_up_again_only_for_its_inputs(desk_with):
    desk = desk_with({"go.mod": b"module one\n", "name": str(desk_with).encode()})
    setup = ("echo set up",)
    reused = []
    for path in ("README.md", "go.mod"):
        desk.run("true", setup=setup)
        (desk.repository / path).write_bytes(b"other\n")
        git(desk.repository, "commit", "-qam", path)
        (prepared,) = desk.run("true", setup=setup).told(Prepared)
        reused.append(prepared.reused)
    assert reused == [True, False]


def test_what_set_up_leaves_is_named_and_is_not_the_workers(desk):
    ran = desk.run("true", setup=("touch made.txt; echo changed > README.md",))
    assert [(e.left, e.restored) for e in ran.told(Prepared)] == [(("made.txt",), ("README.md",))]
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_the_policy_is_the_bases_not_the_workers(desk_with):
    desk = desk_with({".orchestrator.toml": b'[guardrails]\nprotected = ["src/**"]\n'})
    ran = desk.run("echo > .orchestrator.toml; echo >> src/app.py")
    assert ran.record.outcome is Outcome.BLOCKED
    paths = {finding.path for finding in ran.record.findings}
    assert paths == {".orchestrator.toml", "src/app.py"}


def test_the_journal_ends_with_the_outcome(desk):
    ran = desk.run(EDIT)
    lines = (desk.home / "runs" / ran.record.id / "journal.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])
    assert (last["kind"], last["outcome"], last["seq"]) == ("run_finished", "done", len(lines))


@pytest.mark.parametrize("way", ["dirty", "detached"])
def test_the_users_files_index_and_head_stay_byte_for_byte(desk, way):
    if way == "detached":
        git_dir = desk.repository / ".git"
        (git_dir / "HEAD").write_bytes((git_dir / "refs/heads/main").read_bytes())
    (desk.repository / "README.md").write_text("my own unsaved work\n")
    (desk.repository / "untracked.txt").write_text("mine too\n")
    before = _everything(desk.repository)
    desk.run(EDIT)
    after = _everything(desk.repository)
    assert {name: after[name] for name in before} == before


def _everything(repository):
    """Contents of the work tree and of the git files a user has a claim to."""
    mine = [path for path in repository.rglob("*") if path.is_file()]
    return {
        path.relative_to(repository).as_posix(): path.read_bytes()
        for path in mine
        if ".git/objects" not in path.as_posix() and "refs/heads/agent" not in path.as_posix()
    }


def test_a_forged_index_hides_nothing(desk):
    home = "/var/lib/orchestrator"
    git = f"cp {home}/git/sharedindex.* {home}/snapshot; GIT_INDEX_FILE={home}/snapshot/index git"
    ran = desk.run(f"{git} update-index --assume-unchanged README.md; {EDIT}; touch new")
    assert ran.record.outcome is Outcome.DONE
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\n# more"
    assert "new" in ran.git("ls-tree", "--name-only", ran.record.branch)


MAPPED = """
import mmap
with open("README.md", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
    at = mapped.find(b"Tiny")
    mapped[at : at + 4] = b"Huge"
"""


def test_a_file_changed_through_memory_is_recorded_where_it_keeps_its_times(desk):
    """A tmpfs notes no time for what is written through a mapping that was read before."""
    model = scripted(
        Step(calls=(Call("bash", {"command": "touch new"}),)),
        Step(calls=(Call("bash", {"command": f"python3 -c '{MAPPED}'"}),)),
        Step(text="Done."),
    )
    ran = desk.run(model=model, stated=Settings(sandbox=SandboxSettings(workspace="memory")))
    assert ran.record.outcome is Outcome.DONE
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Huge"


def test_a_runtime_reaches_every_container_and_an_unknown_one_starts_no_run(desk, engine):
    used = set()

    def look(event):
        if isinstance(event, Output):
            for name in containers(next(desk.home.glob("runs/2*")).name):
                with suppress(NotFound):  # one of the stage before may be on its way out
                    facts = engine.client.api.inspect_container(name)
                    used.add((event.stage, facts["HostConfig"]["Runtime"]))

    other = "io.containerd.runc.v2"
    desk.run("echo line; " + EDIT, checks=("cat README.md",), runtime=other, watch=look)
    assert {stage for stage, runtime in used} == {"work", "base", "proof"}
    assert {runtime for stage, runtime in used} == {other}
    with pytest.raises(EngineError, match="has no runtime 'nothing', only io"):
        desk.run(EDIT, runtime="nothing")
    assert len(list(desk.home.glob("runs/2*"))) == 1
