"""`orchestrator run`, from the words typed to the exit code."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import git

ROOT = Path(__file__).parents[2]
MEND = ("--", "sed", "-i", "s/a - b/a + b/", "sums.py")


def script(path: Path, *calls: tuple[str, dict]) -> str:
    steps = [{"calls": [{"tool": tool, "arguments": given}]} for tool, given in calls]
    path.write_text(json.dumps({"steps": steps}))
    return f"scripted:{path}"


def test_a_command_mends_the_repository(repository, orchestrator):
    Path("notes.txt").write_text("mine")
    said = orchestrator("run", "--check", "python3 check.py", *MEND)
    assert said.code == 0
    left = "note: 1 changed file is not in the base, so the run works without: notes.txt\n"
    assert said.err.startswith(left)
    assert "check python3 check.py failed (1) on the base" in said.err
    assert "check python3 check.py passed in a fresh container" in said.err
    assert said.text.startswith("done")
    assert "  python3 check.py  red   green\n" in said.text
    branch = git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent")
    assert git("show", f"{branch}:sums.py") == "def add(a, b):\n    return a + b"


def test_a_model_mends_the_repository(repository, orchestrator, tmp_path):
    edit = {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"}
    model = script(tmp_path / "s.json", ("edit_file", edit), ("finish", {"message": "Mended."}))
    said = orchestrator("run", ".", "mend it", "--model", model, "--json", "--quiet")
    run = said.json
    assert (said.code, said.err) == (0, "")
    assert (run["outcome"], run["exit_code"], run["said"]) == ("done", 0, "Mended.")
    assert (run["task"]["model"], run["task"]["repository"]) == (model, str(repository))
    assert (run["turns"], run["cost"]) == (2, 0.0)


def test_the_task_may_come_from_stdin(repository, orchestrator, monkeypatch, tmp_path):
    (tmp_path / "stdin").write_text("from stdin\n")
    with (tmp_path / "stdin").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        said = orchestrator("run", ".", "lead", "-", "--json", "--worker", "command", "--", "true")
    assert (said.code, said.json["outcome"]) == (0, "no_change")
    assert said.json["task"]["prompt"] == "lead\n\nfrom stdin"


def test_an_unknown_runtime_is_a_mistake_of_usage(repository, orchestrator, home):
    said = orchestrator("run", "--runtime", "nothing", *MEND)
    assert (said.code, said.err.startswith("error: The Docker Engine has no runtime")) == (2, True)
    assert not list(home.glob("runs/*"))


def test_a_mistyped_base_is_not_taken_for_a_run(mended, orchestrator):
    said = orchestrator("run", "mend it", "--base", "age")
    assert said.err.endswith("did you mean main?\n")


def test_a_blocked_change_ends_with_3(repository, orchestrator):
    said = orchestrator("run", "-q", "--", "sh", "-c", "mkdir .github; echo x > .github/CODEOWNERS")
    assert said.code == 3
    assert said.text.startswith("blocked")
    assert git("for-each-ref", "refs/heads/agent") == ""


def test_a_red_check_ends_with_1(repository, orchestrator):
    said = orchestrator("run", "-q", "--check", "false", "--json", "--", "touch", "x")
    assert (said.code, said.json["outcome"]) == (1, "checks_failed")


def test_what_a_red_check_prints_is_shown_once(repository, orchestrator):
    check = "test ! -e x || { echo wrong; false; }"
    said = orchestrator("run", "--check", check, "--", "touch", "x")
    assert [line.strip() for line in said.err.splitlines()].count("wrong") == 1
    assert "     wrong\n" in orchestrator("log", "--journal").text


def test_settings_come_from_the_base(repository, orchestrator):
    Path(".orchestrator.toml").write_text('checks = ["false"]\n')
    git("add", ".")
    git("commit", "-qm", "policy")
    Path(".orchestrator.toml").write_text("checks = []\n")
    said = orchestrator("run", "-q", "--json", "--", "touch", "x")
    assert said.json["task"]["checks"] == ["false"]


def test_rules_that_are_not_the_base_s_are_told_before_any_error(repository, orchestrator):
    Path(".orchestrator.toml").write_text("checks = []\n")
    note, error = orchestrator("run").err.splitlines()
    assert note == (
        "note: .orchestrator.toml in your work tree is not the base's: the base's rules hold;"
        " commit it first to change them."
    )
    assert error.startswith("error: The task is empty")


def test_rules_that_are_committed_later_than_the_base_need_no_commit(repository, orchestrator):
    Path(".orchestrator.toml").write_text("checks = []\n")
    git("add", ".")
    git("commit", "-qm", "policy")
    note, _ = orchestrator("run", "--base", "HEAD~1").err.splitlines()
    assert note == (
        "note: .orchestrator.toml in your work tree is not the base's: the base's rules hold."
    )


def test_a_path_that_is_not_there_yet_is_told(repository, orchestrator):
    words = ("--only", "nope/new.py", "--only", "sums.py", "--map-tokens", "9")
    said = orchestrator("run", *words, "-q", "--", "sh", "-c", "mkdir nope; touch nope/new.py")
    assert (said.code, said.err.splitlines()) == (
        0,
        [
            "note: a map is for our own agent: --map-tokens has no effect with --worker command.",
            "note: the base has nothing at nope/new.py (--only): what may change has to be made"
            " there.",
        ],
    )


@pytest.mark.parametrize(
    ("check", "code", "outcome"), [("false", 1, "checks_failed"), ("true", 0, "no_change")]
)
def test_where_nothing_changed_the_checks_on_the_base_are_the_proof(
    repository, orchestrator, check, code, outcome
):
    said = orchestrator("run", "-q", "--json", "--check", check, "--", "true")
    assert (said.code, said.json["outcome"], said.json["branch"]) == (code, outcome, "")
    assert [each["stage"] for each in said.json["evidence"][0]["checks"]] == ["base"]
    assert len(said.json["evidence"]) == 1


def test_a_quiet_run_only_notes_what_is_not_in_the_base(repository, orchestrator):
    for name in "abcdefg":
        Path(name).touch()
    said = orchestrator("run", "-q", "--", "true")
    what = "note: 7 changed files are not in the base, so the run works without"
    assert said.err == f"{what}: a, b, c, d, e and 2 more\n"


def test_set_up_that_fails_shows_why(repository, orchestrator):
    said = orchestrator("run", "--setup", "echo the reason; exit 7", "--", "true")
    assert said.code == 1
    assert "the reason" in said.err
    assert said.text.startswith("worker_error")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("mend it",), 2, "There is no model: set ANTHROPIC_API_KEY or OPENAI_API_KEY"),
        (("mend it", "--model", "anthropic:x"), 2, "anthropic needs a key"),
        (("mend it", "--model", "x"), 2, "Model must be written as provider:name"),
        (("mend it", "--model", "scripted:none.json"), 2, "The script none.json cannot be read"),
        ((), 2, "or send one to standard input, with `-`."),
        (("", "--model", "ollama:x"), 2, "The task is empty"),
        (("mend it", "--base", "v9"), 2, "has no commit called 'v9'"),
        (("mend it", "--worker", "command"), 2, "put it after `--`"),
        (("mend it", "--worker", "robot"), 2, "'robot' is not one of 'agent', 'command'"),
        (("mend it", "--max-cost", "-1"), 2, "cost must be more than 0 dollars"),
        (("/nowhere", "mend it"), 2, "/nowhere"),
        (("mend \udcff it", "--model", "ollama:x"), 2, "is not text in UTF-8"),
        (("ftp://example.org/r.git", "mend it"), 2, "ftp:// addresses are not supported"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    repository, orchestrator, home, arguments, code, message
):
    said = orchestrator("run", *arguments)
    assert (said.code, said.out) == (code, b"")
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert not (home / "runs").exists()


@pytest.mark.parametrize("streams", ["<&-", "2>&-", ">&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_run_needs_no_stream(repository, home, streams):
    program = f"{sys.executable} -c 'from orchestrator.cli import main; main()'"
    line = f"{program} run --check false -- touch x {streams}"
    subprocess.run(["sh", "-c", line], env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=240)
    (record,) = [msgspec.json.decode(path.read_bytes()) for path in home.glob("runs/*/run.json")]
    assert (record["state"], record["outcome"]) == ("finished", "checks_failed")
    assert not (home / "logs").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_what_it_had_done(repository, number):
    work = "echo new > new.txt; echo begun; sleep 600"
    start = (sys.executable, "-c", "from orchestrator.cli import main; main()")
    child = subprocess.Popen(
        [*start, "run", "--json", "--", "sh", "-c", work],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in child.stderr:
        if line.split() == ["begun"]:
            child.send_signal(number)
            break
    out, err = child.communicate(timeout=240)
    record = json.loads(out)
    assert "stopping" in err
    assert (child.returncode, record["outcome"], record["state"]) == (130, "cancelled", "finished")
    assert git("show", f"{record['branch']}:new.txt") == "new"
    subject = git("log", "-1", "--format=%s", record["branch"])
    assert subject == f"command: sh -c '{work}'"


def test_only_what_is_named_may_change(repository, orchestrator):
    said = orchestrator("run", "-q", "--only", "./check.py", *MEND)
    assert said.code == 3
    assert "  only        check.py\n" in said.text
    assert "sums.py: changed, but only check.py may change" in said.text


@pytest.mark.parametrize("path", ["/etc", "../r", "a/../../b", "", "."])
def test_a_path_elsewhere_cannot_be_the_only_one(repository, orchestrator, path):
    said = orchestrator("run", "-q", "--only", path, *MEND)
    assert said.code == 2
    assert said.err == f"error: --only: {path!r} is no path below the root of the repository.\n"
