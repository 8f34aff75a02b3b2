"""The terminal as a model uses it."""

import json
import time

import pytest

from orchestrator.models.model import ToolCall
from orchestrator.tools.terminal import terminal
from orchestrator.tools.tool import Context, tool, use

TERMINAL = tool(terminal, "execute")
PROMPT = "python3 -c \"input('name? ')\""


@pytest.fixture
def call(workspace, tmp_path):
    context = Context(workspace.box, tmp_path, "call", time.monotonic() + 300, lambda line: None)

    def call(action, **more):
        arguments = json.dumps({"action": action, **more})
        result = use(TERMINAL, ToolCall("1", "terminal", arguments), context)
        return result.text, result.error

    yield call
    workspace.box.sweep()
    workspace.box.terminals.leave()


def number(text):
    return int(text.partition("[session ")[2].partition(":")[0])


def test_a_session_lives_from_call_to_call(call):
    text, _ = call("open", command=PROMPT, until=["name? "])
    this = number(text)
    place = "the cursor is in row 1 of 24, column 7"
    assert text == f"name?\n[session {this}: what was waited for is there; {place}]"
    assert call("read") == (f"name?\n[session {this}: it is silent; {place}]", False)
    ended = f"name? Zoe\n[session {this} has ended, exit status 0]"
    assert call("send", text="Zoe", keys=["enter"], until=["never said"]) == (ended, False)


def test_a_session_can_be_chosen_and_closed(call):
    one, two = (number(call("open", command="cat", rows=5, columns=20)[0]) for _ in range(2))
    text, error = call("send", text="x")
    assert (text, error) == (f"say which session; open: {one}, {two}", True)
    assert not call("send", session=two, text="x")[1]
    assert call("close", session=one) == (f"[session {one} is closed]", False)
    assert call("read", session=one) == (f"there is no session {one}; open: {two}", True)


def test_a_program_that_goes_on_printing_is_left_running(call):
    text, error = call("open", command="while :; do echo on; read -t 0.1; done", seconds=1)
    assert "the time is up, it goes on" in text
    assert not error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "open"}, "command: a command line is needed to open a session"),
        ({"action": "open", "command": "a\0b"}, "command: a command line is needed to open"),
        ({"action": "open", "command": "cat", "rows": 0}, "rows: expected 2 to 500, got 0"),
        ({"action": "read"}, "there is no session; open one first"),
        ({"action": "read", "seconds": 121}, "seconds: expected 1 to 120, got 121"),
        ({"action": "read", "seconds": 0}, "seconds: expected 1 to 120, got 0"),
        ({"action": "look"}, "action: expected one of open, send, read, close, got look"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call, arguments, said):
    text, error = call(**arguments)
    assert text.startswith(said)
    assert error


def test_sending_nothing_is_refused(call):
    call("open", command="cat")
    assert call("send") == ("send needs text or keys", True)
    assert call("send", keys=["hyper"])[0].startswith("there is no key 'hyper'; the keys are")
