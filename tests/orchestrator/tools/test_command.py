"""Commands: what they print, how they end, and that nothing of them stays."""

import json
import time

import pytest

from orchestrator.models.model import ToolCall
from orchestrator.tools.command import bash, shell
from orchestrator.tools.tool import Context, tool, use

BASH = tool(bash, "execute")


@pytest.fixture
def run(workspace, tmp_path):
    lines = []
    context = Context(
        workspace.box, tmp_path, "step-1-call-1", time.monotonic() + 300, lines.append
    )

    def call(command, **more):
        result = use(BASH, ToolCall("1", "bash", json.dumps({"command": command, **more})), context)
        return result.text, result.error

    call.lines = lines
    return call


def test_output_and_status_come_back(run):
    assert run("echo out; echo err >&2") == ("out\nerr\n[exit status 0]", False)


def test_output_keeps_its_order(run):
    command = "for n in $(seq 200); do echo $n; echo $n >&2; done"
    assert run(command)[0] == "".join(f"{n}\n{n}\n" for n in range(1, 201)) + "[exit status 0]"


def test_of_a_flood_only_the_start_is_shown(run):
    text, _ = run("seq 30000")
    assert (len(run.lines), text.endswith("\n30000\n[exit status 0]")) == (20_000, True)


def test_a_file_that_grew_too_large_is_named(run):
    text, error = run("kill -XFSZ $$")
    assert (text, error) == ("[exit status 153: a file became too large (limit 1g)]", True)


def test_a_failure_is_marked_and_keeps_its_output(run):
    assert run("echo almost; exit 3") == ("almost\n[exit status 3]", True)


def test_it_is_bash_in_the_workspace_without_input(run):
    assert run("[[ -n $BASH_VERSION ]] && pwd && cat") == ("/workspace\n[exit status 0]", False)


def test_each_call_has_a_fresh_shell(run):
    run("cd /tmp; export LEFT=1")
    assert run("pwd; echo $LEFT") == ("/workspace\n\n[exit status 0]", False)


@pytest.mark.parametrize("command", ["-c 'echo x'", "--version", 'echo "$0"'])
def test_a_command_is_never_an_option_of_the_shell(run, command):
    text, _ = run(command)
    assert "GNU bash" not in text


def test_an_image_without_shell_gets_the_toolboxes(workspace):
    command = ["/usr/bin/env", "PATH=/nowhere", *shell("echo $0; exit 4")]
    completed = workspace.box.run(command)
    assert (completed.exit.status, completed.stdout) == (4, b"sh\n")


def test_a_time_limit_leaves_no_process(run, workspace):
    text, error = run("echo early; (setsid sleep 4242 &) ; sleep 4242", seconds=1)
    assert error
    assert text == "early\n[time limit: ended after 1 s, with all it had started]"
    found = workspace.box.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    assert b"sleep 4242" not in found.stdout


@pytest.mark.parametrize("seconds", [0, -5, 601])
def test_a_time_limit_beyond_its_bounds_is_refused(run, seconds):
    assert run("true", seconds=seconds) == (f"seconds: expected 1 to 600, got {seconds}", True)


def test_bytes_that_are_no_text_are_shown_as_such(run):
    assert run(r"printf 'a\377b\n'") == ("a\N{REPLACEMENT CHARACTER}b\n[exit status 0]", False)


def test_long_output_is_cut_and_kept_whole_as_an_artifact(run, tmp_path):
    text, _ = run("seq 200000")
    assert len(text) <= 30_000
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("199999\n200000\n[exit status 0]")
    assert "kept outside the sandbox as artifact step-1-call-1.txt" in text
    kept = (tmp_path / "step-1-call-1.txt").read_text()
    assert kept == "".join(f"{number}\n" for number in range(1, 200001))


def test_short_output_leaves_no_artifact(run, tmp_path):
    run("echo short")
    assert list(tmp_path.iterdir()) == []


def test_every_line_is_shown_at_once(run):
    run("echo out; echo err >&2")
    assert [line.data for line in run.lines] == [b"out", b"err"]
