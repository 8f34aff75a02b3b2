"""doctor: each look says what it found and what to do, in its time, whatever the others met."""

import os
import re
import socket
import threading
import time
from dataclasses import replace

import pytest

from orchestrator.cli import engine_looks, host_looks
from orchestrator.cli.examination import Examined, examine
from sandbox.kit import Kit
from sandbox.probe import Inside

NAMES = (
    *("git", "engine", "isolation", "limits", "base image", "toolbox", "claude", "codex"),
    *("storage", "sandbox", "network", "engine disk", "relay", "leftovers"),
    *("home", "disk", "authorities", "keys", "system"),
)
ALL_IS_WELL = Inside((), (), 100 << 30, 1_000_000, ())


def names(said):
    return [each["name"] for each in said.json]


def test_a_machine_with_everything_is_well(orchestrator, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = orchestrator("doctor", "--json")
    assert (said.code, tuple(names(said))) == (0, NAMES)
    assert {each["name"] for each in said.json if not each["ok"]} - {"leftovers"} <= {
        *("keys", "storage", "claude", "codex"),
    }
    assert all(bool(each["fix"]) is not each["ok"] for each in said.json)
    assert said.err.splitlines()[0] == "looking at: git"
    assert re.fullmatch(r"2\.\d+\.\d+ at /.*/git", said.json[0]["found"])
    assert not home.exists()


def test_keys_are_named_and_not_shown(orchestrator, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    said = orchestrator("doctor")
    assert "OPENAI_API_KEY" in said.text
    assert said.text.splitlines()[-1] == "Ready."
    assert "secret" not in said.text + said.err


def test_a_login_is_named_with_what_it_is_for(orchestrator, home, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-secret")
    found = host_looks._keys()
    assert (found.ok, found.found) == (True, "CLAUDE_CODE_OAUTH_TOKEN (for Claude Code alone)")


def test_an_image_of_ones_own_is_tried(orchestrator, home):
    said = orchestrator("doctor", "--image", "orchestrator/toolbox:1", "--json")
    (found,) = [each for each in said.json if each["name"] == "image"]
    assert (said.code, found["ok"]) == (0, True)
    assert found["found"].startswith("orchestrator/toolbox:1 works")


def test_a_missing_image_is_a_finding_like_others(orchestrator, home):
    said = orchestrator("doctor", "--image", "orchestrator/none:1", "--json")
    (found,) = [each for each in said.json if each["name"] == "image"]
    assert (said.code, found["ok"]) == (1, False)
    assert "The image orchestrator/none:1 is missing" in found["found"]
    assert names(said)[-1] == "system"


def test_a_program_of_another_version_is_a_note_and_what_to_run(engine):
    kit = Kit("orchestrator-test/program:2", "/opt/x", "sh agents.sh program")
    toolbox = engine.client.images.get("orchestrator/toolbox:1")
    toolbox.tag("orchestrator-test/program", "1")
    try:
        (found,) = engine_looks.agent(engine, "program", kit)
    finally:
        engine.client.images.remove("orchestrator-test/program:1")
    assert (found.ok, found.needed) == (False, False)
    assert found.found == (
        "orchestrator-test/program:2 is not on the engine"
        " (orchestrator-test/program:1 is, and not used)"
    )
    assert found.fix == "For --worker program run `sh agents.sh program`."


def test_a_missing_engine_is_named_and_the_rest_is_looked_at(orchestrator, home, no_engine):
    said = orchestrator("doctor")
    assert said.code == 1
    assert "missing  engine       No Docker Engine answers: start it" in said.text
    assert said.text.splitlines()[-1] == "1 thing is missing."
    assert "\nok       home" in said.text


def test_a_look_that_hangs_or_fails_hides_no_other():
    def hang():
        yield Examined("first", True, "seen")
        threading.Event().wait(20)

    def fail():
        raise ValueError("the roof\nis on fire")
        yield

    began = time.monotonic()
    late = Examined(
        "x", False, "there was no answer within 1 s", fix="Look why it hangs, and try again."
    )
    assert examine("x", hang, 1.0) == (Examined("first", True, "seen"), late)
    assert examine("y", fail, 5) == (Examined("y", False, "the roof is on fire"),)
    assert time.monotonic() - began < 15


def test_an_engine_that_never_answers_is_waited_for_a_moment_only(orchestrator, home, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("orchestrator.cli.doctor.SECONDS", 1.0)
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        said = orchestrator("doctor", "--json")
    engine = next(each for each in said.json if each["name"] == "engine")
    assert (said.code, engine["found"]) == (1, "there was no answer within 1 s")
    assert names(said)[-1] == "system"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"holes": ("unshare works",)}, "sandbox"),
        ({"network": ("interface eth0",)}, "network"),
        ({"free_bytes": 1 << 30}, "engine disk"),
        ({"free_files": 99}, "engine files"),
    ],
)
def test_a_sandbox_that_does_not_hold_is_missing_something(changes, name):
    looked_at = engine_looks.judged(replace(ALL_IS_WELL, **changes))
    found = [each for each in looked_at if not each.ok]
    assert [each.name for each in found] == [name]
    assert found[0].needed
    assert found[0].fix


def test_a_stale_lock_in_the_repository_is_reported_and_stays(orchestrator, repository):
    lock = repository / ".git/index.lock"
    lock.touch()
    assert list(host_looks._locks()) == []
    hour_ago = time.time() - 3600
    os.utime(lock, (hour_ago, hour_ago))
    (found,) = host_looks._locks()
    assert (found.found, found.needed) == (str(lock), False)
    assert lock.exists()
