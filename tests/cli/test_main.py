"""The program as a whole: help, unknown words, and what it may not import to show them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.main import OTHER_WORDS, VERBS

ROOT = Path(__file__).parents[2]


def test_help_names_every_verb(orchestrator):
    said = orchestrator("--help")
    assert (said.code, said.err) == (0, "")
    assert [verb for verb in VERBS if f"\n  {verb} " not in said.text] == []


def test_without_a_verb_it_helps(orchestrator):
    said = orchestrator()
    assert (said.code, said.out, said.err) == (2, b"", orchestrator("--help").text)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(orchestrator, verb):
    said = orchestrator(verb, "--help")
    assert said.code == 0
    assert all(option in said.text for option in ("--json", "-C DIR", "--home DIR"))


def test_help_imports_nothing_of_ours_but_the_command_line_and_its_errors():
    start = (
        "import sys; from orchestrator.cli.main import call; call(['--help'])\n"
        "heavy = ('msgspec', 'docker', 'openai', 'tree_sitter')\n"
        "print([name for name in sys.modules if name in heavy\n"
        "    or name.startswith(('orchestrator.', 'sandbox')) and 'cli' not in name],\n"
        "    file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == "['orchestrator.errors']\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fly",), "error: No such command 'fly'. See `orchestrator --help`.\n"),
        (
            ("lsit",),
            "error: No such command 'lsit': did you mean list? See `orchestrator --help`.\n",
        ),
        (
            ("map",),
            "error: No such command 'map': did you mean outline --map?"
            " See `orchestrator --help`.\n",
        ),
        (
            ("ls",),
            "error: No such command 'ls': did you mean list? See `orchestrator --help`.\n",
        ),
        (
            ("patch", "index.json"),
            "error: Missing option '--index INDEX'. See `orchestrator patch --help`.\n",
        ),
        (
            ("--json", "list"),
            "error: --json stands after the verb: `orchestrator list --json`."
            " See `orchestrator --help`.\n",
        ),
        (
            ("-q", "run", "mend it"),
            "error: -q stands after the verb: `orchestrator run -q`. See `orchestrator --help`.\n",
        ),
        (("-q", "list"), "error: No such option '-q'. See `orchestrator --help`.\n"),
        (
            ("gc", "--max-age", "old"),
            "error: Invalid value for '--max-age': 'old' is not a valid number."
            " See `orchestrator gc --help`.\n",
        ),
        (
            ("outline", "--depth", "1.5"),
            "error: Invalid value for '--depth': '1.5' is not a valid whole number."
            " See `orchestrator outline --help`.\n",
        ),
        (("list", "--fast"), "error: No such option '--fast'. See `orchestrator list --help`.\n"),
        (
            ("run", "--memory", "64g"),
            "error: No such option '--memory': `memory` under [sandbox] in .orchestrator.toml sets"
            " that. See `orchestrator run --help`.\n",
        ),
        (
            ("resume", "--file-size=9g"),
            "error: No such option '--file-size': `file_size` under [sandbox] in .orchestrator.toml"
            " sets that. See `orchestrator resume --help`.\n",
        ),
        (
            ("run", "--max-cots", "3"),
            "error: No such option '--max-cots': did you mean --max-cost?"
            " See `orchestrator run --help`.\n",
        ),
        (
            ("run", "--effort", "3"),  # whose dashes make it like --record
            "error: No such option '--effort'. See `orchestrator run --help`.\n",
        ),
        (
            ("gc", "--memory", "3"),
            "error: No such option '--memory'. See `orchestrator gc --help`.\n",
        ),
    ],
)
def test_a_wrong_word_is_one_sentence(orchestrator, arguments, message):
    said = orchestrator(*arguments)
    assert (said.code, said.out, said.err) == (2, b"", message)


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_a_word_of_elsewhere_leads_to_what_there_is(orchestrator, word):
    """The verb is one, and has the option that is named with it."""
    words = OTHER_WORDS[word].split()
    assert word not in VERBS
    assert words[-1] in orchestrator(*VERBS.keys() & {words[0]}, "--help").text


def test_a_folder_is_entered_first(orchestrator, repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = orchestrator("-C", "r", "run", "--base", "nothing", "mend it")
    assert said.code == 2
    assert said.err.startswith(f"error: {repository} has no commit called 'nothing'")


def test_a_folder_within_a_repository_is_that_repository(orchestrator, repository):
    (repository / "sub").mkdir()
    said = orchestrator("run", "sub", "mend it", "--base", "nothing")
    assert said.err.startswith(f"error: {repository} has no commit called 'nothing'")


def test_home_can_be_named_anywhere(orchestrator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other" / "runs" / "torn").mkdir(parents=True)
    before = orchestrator("--home", str(tmp_path / "other"), "list", "--json")
    after = orchestrator("list", "--home", str(tmp_path / "other"), "--json")
    assert before.json == after.json
    assert [run["id"] for run in after.json] == ["torn"]


@pytest.mark.parametrize("runs", [1, 2000])
def test_a_closed_pipe_is_quiet(tmp_path, runs):
    for number in range(runs):
        (tmp_path / "runs" / f"run-{number}").mkdir(parents=True)
    start = "from orchestrator.cli import main; main()"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", start, "--home", str(tmp_path), "list", "--all"],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
