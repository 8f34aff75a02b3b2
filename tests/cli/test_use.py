"""`run --use`: the commands of a repository's settings, with arguments, from typed to done."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import git

RULES = """
[commands.mend]
command = ["sed", "-i", "s/a - b/{to}/", "--", "{path}"]
description = "Changes what add() returns"
args.path = {default = "sums.py"}
args.to = {description = "the new sum"}

[commands.tell]
command = ["python3", "-c", "import sys; open('told', 'w').write(repr(sys.argv[1:]))", "--", "{it}"]
args.it = {}

[commands.wait]
command = ["sleep", "{seconds}"]
timeout = 2
args.seconds = {type = "int", default = 600}
"""


@pytest.fixture
def commands(repository: Path) -> Path:
    """The repository, with these commands at its tip."""
    Path(".orchestrator.toml").write_text(RULES)
    git("add", ".")
    git("commit", "-qm", "policy")
    return repository


def branch_file(run: dict, path: str) -> str:
    return git("show", f"{run['branch']}:{path}")


def test_a_command_of_the_settings_mends_the_repository(commands, orchestrator):
    said = orchestrator("run", "--use", "mend", "--arg", "to=a + b", "--check", "python3 check.py")
    assert (said.code, said.text.partition(":")[0]) == (0, "done")
    assert "  task        sed -i 's/a - b/a + b/' -- sums.py\n" in said.text
    (started,) = [
        json.loads(line)
        for line in orchestrator("log", "--journal", "--json").text.splitlines()
        if '"tool_started"' in line
    ]
    asked = ["sed", "-i", "s/a - b/a + b/", "--", "sums.py"]
    assert json.loads(started["arguments"]) == asked


@pytest.mark.parametrize("value", ["--help", "{it} $(touch x) `y`; 'z' \"", "naïve\nline", ""])
def test_a_value_arrives_as_one_argument_as_it_is(commands, orchestrator, value):
    said = orchestrator("run", "-q", "--json", "--use", "tell", "--arg", f"it={value}")
    assert said.json["outcome"] == "done"
    assert branch_file(said.json, "told") == repr(["--", value])


def test_a_command_has_a_time_of_its_own(commands, orchestrator):
    said = orchestrator("run", "-q", "--json", "--use", "wait")
    assert (said.code, said.json["outcome"]) == (124, "time")


def test_after_the_dashes_the_task_the_base_and_the_paths_are_filled_in(repository, orchestrator):
    program = "import sys; open('told', 'w').write(repr(sys.argv[1:]))"
    words = ("python3", "-c", program, "{prompt}", "{only}", "{base}", "{}", "${base}")
    said = orchestrator(
        "run", ".", "mend {it}", "-q", "--json", "--only", "told", "--only", "x", "--", *words
    )
    base = git("rev-parse", "HEAD")
    assert branch_file(said.json, "told") == repr(["mend {it}", "told", "x", base, "{}", "${base}"])


def test_the_base_can_be_compared_with(repository, orchestrator):
    words = ("sh", "-c", 'echo x > new; git add -N . && git diff --stat "$0" > stat', "{base}")
    said = orchestrator("run", "-q", "--json", *("--", *words))
    assert " new | 1 +\n" in branch_file(said.json, "stat")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--use", "mnd"),
            "There is no command 'mnd' in the base's settings (known: mend:",
        ),
        (
            ("--use", "mend"),
            "The command mend: an argument is missing: --arg to=VALUE (the new sum)",
        ),
        (("--use", "mend", "--arg", "x=1"), "The command mend: there is no argument 'x' (known:"),
        (("--use", "wait", "--arg", "seconds=1s"), "'seconds' has to be an integer, not 1s"),
        (("--use", "wait", "--arg", "seconds=-1"), "'-1' in the place of {seconds} would be an"),
        (("--arg", "x=1", "--", "true"), "--arg is for a command of the settings"),
        (("--use", "wait", "--", "true"), "Two commands were given"),
        (("--use", "wait", "--worker", "claude"), "Claude Code takes no command"),
        (("--replay", "x", "--use", "wait"), "A command asks no model"),
        (("--", "tool", "{prompt}"), "{prompt} stands for the task, and there is none"),
    ],
)
def test_a_mistake_is_one_sentence_before_any_container(
    commands, orchestrator, home, no_engine, arguments, says
):
    said = orchestrator("run", *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, b"", 1)
    assert says in said.err
    assert not (home / "runs").exists()


def test_commands_come_from_the_base(repository, orchestrator):
    Path(".orchestrator.toml").write_text(RULES)
    said = orchestrator("run", "-q", "--use", "mend", "--arg", "to=b")
    assert (said.code, "There is no command 'mend'" in said.err) == (2, True)
