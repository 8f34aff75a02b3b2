"""Attacks through an interactive session: on the host's memory, on its terminal, on our guard."""

import json
import time
import tracemalloc

import pytest

from orchestrator.models.model import ToolCall
from orchestrator.tools.table import TOOLS
from orchestrator.tools.tool import Context, use
from sandbox.display import UNSHOWN
from sandbox.terminal import UNSENT, TerminalError
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace


@pytest.fixture
def run(box):
    opened = []

    def open_session(*command):
        opened.append(box.terminals.open(command))
        return opened[-1]

    yield open_session
    for each in opened:
        each.close()


def test_a_flood_needs_little_memory_and_blocks_nothing(box, run):
    session = run("yes")
    tracemalloc.start()
    assert session.wait(seconds=0.5, quiet=30) == "time"
    assert box.run(["echo", "fine"]).stdout == b"fine\n"
    while not session.look().skipped:  # a busy machine takes its time to print that much
        assert session.wait(seconds=0.5, quiet=30) == "time"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * UNSHOWN  # a flood is many times that
    session.send("", "ctrl-c")
    assert (session.wait("never said", seconds=30), session.status) == ("ended", 130)


def test_a_flood_that_nobody_looks_at_ends_with_its_session(box, run):
    run("yes").close()
    assert box.run(["pgrep", "-x", "yes"]).stdout == b""


def test_a_program_that_reads_nothing_costs_little_memory(run):
    session = run("sleep", "97")
    flood = (session.send("x" * (UNSENT - 1)) for _ in range(100))
    with pytest.raises(TerminalError, match="does not take what was typed"):
        list(flood)


def test_what_a_terminal_would_obey_reaches_neither_model_nor_person(workspace, tmp_path):
    lines = []
    context = Context(workspace.box, tmp_path, "call", time.monotonic() + 60, lines.append)
    hostile = r"\033]0;title\007\033]52;c;ZXZpbA==\033\\\033[2J\033[Hred \033[31mtext\302\233m"
    arguments = {"action": "open", "command": f"printf '{hostile}'", "until": ["never said"]}
    (terminal,) = (tool for tool in TOOLS if tool.name == "terminal")
    result = use(terminal, ToolCall("1", "terminal", json.dumps(arguments)), context)
    assert result.text.split("\n")[0] == "red textm"
    assert result.text.replace("\n", "").isprintable()
    assert [line.text for line in lines] == ["red textm"]


def test_a_stopped_guard_does_not_keep_a_session_open(box, run):
    session = run("sh", "-c", "setsid sleep 98 & kill -STOP $PPID; echo on; sleep 98")
    session.wait("on")
    session.close()
    assert box.run(["pgrep", "-x", "sleep"]).stdout == b""


def test_a_killed_guard_leaves_nothing_past_the_sweep(box, run):
    session = run("sh", "-c", "setsid sleep 99 & kill -KILL $PPID; sleep 99")
    assert (session.wait("never said"), session.status) == ("ended", 137)
    box.sweep()
    assert box.run(["pgrep", "-x", "sleep"]).stdout == b""


def test_the_guard_cannot_be_read(box, run):
    session = run("sh", "-c", "cat /proc/$PPID/environ; ls /proc/$PPID/fd; echo done")
    session.wait("done")
    assert session.look().text.count("Permission denied") == 2
