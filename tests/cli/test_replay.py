"""`orchestrator run --replay`: a run again, without a model, a key or a network."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from orchestrator.cli import replay
from orchestrator.cli.main import call
from orchestrator.models.traffic import Replay
from orchestrator.planning import Flags
from orchestrator.records import Records
from orchestrator.task import Network
from tests.api.scenario import Call, Fault, Step
from tests.api.server import play
from tests.cli.conftest import build, git

ROOT = Path(__file__).parents[2]
KEY = "sk-ant-0123456789abcdef"
EDIT = {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"}
MEASURED = "date; date >&2; time python3 -c 'print(object())'; mktemp; echo pid $$; false"
RETRY_AFTER = 3
STEPS = (
    Step(
        fault=Fault(status=429, error="rate_limit_error", headers={"retry-after": str(RETRY_AFTER)})
    ),
    Step("First a look.", (Call("read_file", {"path": "sums.py"}), Call("list_dir"))),
    Step("It is right.", fault=Fault(after=2, then="close")),
    Step("It is right."),
    Step("No.", (Call("bash", {"command": MEASURED}),), thinking="Hm."),
    Step(calls=(Call("edit_file", EDIT),)),
    Step(calls=(Call("finish", {"message": "Mended."}),)),
)
OFFLINE = """
import os, sys

def hear(event, arguments):
    unix = event == "socket.connect" and isinstance(arguments[1], str | bytes)
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto") and not unix:
        os._exit(99)

sys.addaudithook(hear)
from orchestrator.cli import main
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository, a home, and a run with a model in it; the model's server is gone."""
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch, play(*STEPS) as api:
        patch.chdir(build(folder / "r"))
        patch.setenv("ORCHESTRATOR_HOME", str(folder / "home"))
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", api.url)
        checks = ("--check", "python3 check.py", "--max-turns", "9")
        assert call(("run", "mend it", *checks)) == 0
    return folder


@pytest.fixture
def recorded(folder, home, monkeypatch):
    """The record of that run; we stand in a copy of its repository and home."""
    shutil.copytree(folder / "home", home)
    monkeypatch.chdir(folder / "r")
    return next(run for run in Records(home).all())


def trees(base, branch):
    return git("log", "--format=%T %s", f"{base}..{branch}").splitlines()


def offline(*arguments):
    """The program in a process that ends with 99 as soon as it asks the network for anything."""
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_a_replay_ends_in_the_same_trees_and_asks_the_network_for_nothing(
    recorded, orchestrator, monkeypatch
):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    played = offline("run", "--replay", recorded.id, "--json")
    assert played.returncode == 0, played.stderr
    assert "note: the replay" not in played.stderr
    replayed = json.loads(played.stdout)
    assert trees(recorded.base, replayed["branch"]) == trees(recorded.base, recorded.branch)
    assert (replayed["turns"], replayed["input_tokens"]) == (5, recorded.input_tokens)
    shown = orchestrator("show").text
    assert f"  replayed    {recorded.id}: no model was asked, and nothing paid" in shown
    journal = orchestrator("log", "--journal", "--json").text.splitlines()
    turns = [event for event in map(json.loads, journal) if event["kind"] == "turn"]
    assert turns[0]["seconds"] < RETRY_AFTER


def test_the_network_is_watched():
    ask = "import socket; socket.create_connection(('127.0.0.1', 9))"
    program = OFFLINE.partition("from orchestrator")[0] + ask
    assert subprocess.run([sys.executable, "-c", program]).returncode == 99


def test_nothing_on_disk_holds_the_key(recorded, home):
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len([path for path in files if path.parent.name == "cassette"]) == len(STEPS) + 1
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_folder_is_replayed_and_another_task_ends_in_the_first_difference(
    recorded, orchestrator, home, tmp_path
):
    cassette = shutil.move(home / "runs" / recorded.id / "cassette", tmp_path / "kept")
    said = orchestrator("run", "break it", "--replay", str(cassette), "--json")
    assert (said.code, said.json["outcome"]) == (1, "worker_error")
    assert said.json["message"] == (
        "The recording has no answer to request 1. messages[0].content[0].text: recorded was"
        " 'mend it', asked is 'break it'. Replay with the same task, files and settings, or"
        " record again."
    )
    task = said.json["task"]
    assert (task["model"], task["replay"]) == (recorded.task.model, str(cassette))


def test_show_tells_what_was_recorded(recorded, orchestrator):
    assert (
        f"  recorded    {recorded.recorded:,} bytes of model traffic" in orchestrator("show").text
    )


def test_no_record_records_nothing(repository, orchestrator, home, monkeypatch):
    with play(Step("Nothing to do.")) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        said = orchestrator("run", "look", "--no-record", "--json")
    assert (said.code, said.json["recorded"]) == (0, 0)
    assert list(home.glob("runs/*/cassette")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--replay", "nowhere"), "There is no run 'nowhere'"),
        (("task", "--replay", "."), "There is no recorded model traffic in"),
        (("--replay", ".", "--", "true"), "A command asks no model, so there is nothing to replay"),
        (("task", "--replay", ".", "--model", "scripted:x.json"), "A script needs no replay"),
    ],
)
def test_what_cannot_be_replayed_is_one_sentence(repository, orchestrator, arguments, message):
    said = orchestrator("run", *arguments)
    assert (said.code, said.out) == (2, b"")
    assert said.err.startswith(f"error: {message}")
    assert said.err.count("\n") == 1


def test_a_command_leaves_nothing_to_replay(mended, orchestrator):
    said = orchestrator("run", "--replay", mended)
    assert said.code == 2
    assert "There is no recorded model traffic" in said.err


def test_what_the_recorded_run_could_reach_holds_again(recorded, home):
    network = Network(allow=("pypi",), private_hosts=("a.example",))
    task = dataclasses.replace(recorded.task, network=network, runtime="runc")
    folder = home / "runs" / recorded.id / "cassette"
    then = msgspec.structs.replace(recorded, task=task)
    flags = replay.Played(folder, Replay(folder), then).flags(Flags(allow=("npm",)))
    assert (flags.allow, flags.private_hosts, flags.runtime) == (("npm",), ("a.example",), "runc")


def test_a_replay_that_ends_in_other_files_says_so(recorded, orchestrator, home):
    path = home / "runs" / recorded.id / "run.json"
    path.write_text(path.read_text().replace(recorded.tree, "1" * 40))
    said = orchestrator("run", "--replay", recorded.id, "--json")
    assert (said.code, said.json["outcome"]) == (0, "done")
    assert said.err.splitlines()[-1] == (
        f"note: the replay ended in other files than run {recorded.short}: {recorded.tree[:10]},"
        " not 1111111111; compare `orchestrator diff` of both"
    )


def test_a_map_of_the_repository_is_part_of_what_is_recorded_and_replayed(
    repository, home, orchestrator, monkeypatch
):
    steps = (
        Step(calls=(Call("edit_file", EDIT),)),
        Step(calls=(Call("finish", {"message": "Mended."}),)),
    )
    with play(*steps) as api, monkeypatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", api.url)
        first = orchestrator("run", ".", "mend it", "--map-tokens", "99", "--json").json
    cassette = Records(home).folder(first["id"]).cassette
    said = b"".join(path.read_bytes() for path in cassette.rglob("*") if path.is_file())
    assert b"| sums.py\\n|      1  function add" in said
    for kept in (home / "packs").glob("*.map"):
        kept.unlink()
    again = orchestrator("run", "--replay", first["id"], "--json").json
    assert (again["outcome"], again["tree"]) == ("done", first["tree"])
    assert again["task"]["map_tokens"] == 99
