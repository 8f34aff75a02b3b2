"""Programs that do what the real ones cannot be made to do: odd lines, ends and processes."""

import json
import time
from collections.abc import Sequence

import pytest

from orchestrator.delegates.account import Account
from orchestrator.delegates.claude import Claude
from orchestrator.delegates.delegate import Delegate
from orchestrator.delegates.transcript import Transcript
from orchestrator.events import Raw, ToolFinished
from orchestrator.models.access import DIRECT
from orchestrator.task import Limits, Task
from sandbox.gateway.routes import Route
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace

NOBODY = Route("anthropic", "http://127.0.0.1:9", "", ())
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "Done."}
SUCCESS = json.dumps(RESULT)
ERROR = json.dumps({**RESULT, "is_error": True, "result": "It broke."})
LONG = """printf '{"type": "user", "message": {"content": [{"type": "tool_result", "content": "'
head -c 5000000 /dev/zero | tr '\\0' x
printf '%s\\n' '"}]}}'"""


class Script(Claude):
    """A shell script in the place of `claude`."""

    name = "sh"

    def __init__(self, script: str) -> None:
        super().__init__()
        self.script = script

    def command(self, task: Task, before: Transcript | None) -> Sequence[str]:
        return ("sh", "-c", self.script)


@pytest.fixture
def play(workspace, tmp_path):
    def run(script, **limits):
        task = Task("", "Go.", worker="claude", limits=Limits(**{"seconds": 60, **limits}))
        account = Account.open(task, (NOBODY,), DIRECT)
        return list(Delegate(Script(script), account, tmp_path).work(task, workspace.box))

    return run


def say(line: str) -> str:
    return f"printf '%s\\n' '{line}'"


def left(workspace) -> bytes:
    return workspace.box.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]).stdout


@pytest.mark.parametrize(
    ("script", "reason", "message"),
    [
        (say(SUCCESS), "complete", "Done."),
        (say(ERROR), "failed", "It broke."),
        (say(ERROR) + "; exit 1", "failed", "It broke."),
        ("true", "failed", "sh ended with status 0, without its last event"),
        (
            "echo no such flag >&2; exit 1",
            "failed",
            "sh ended with status 1, without its last event: no such flag",
        ),
        (
            say(SUCCESS) + "; exit 3",
            "failed",
            "sh said it was finished, and ended with status 3",
        ),
        (
            f"printf '%s' '{SUCCESS[:40]}'",
            "failed",
            "sh ended with status 0, without its last event",
        ),
        (f"printf '%s' '{SUCCESS}'", "complete", "Done."),
        (f"{say(ERROR)}; {say(SUCCESS)}", "complete", "Done."),
        (f"{say(SUCCESS)}; {say(ERROR)}", "failed", "It broke."),
        ("kill -9 $$", "failed", "sh ended with status 137, without its last event"),
    ],
)
def test_its_end_is_what_its_last_event_and_its_status_say_together(play, script, reason, message):
    ended = play(script)[-1]
    assert (ended.reason, ended.message) == (reason, message)


def test_what_is_no_event_is_kept_and_no_error(play):
    events = play(f"echo not JSON; {say(SUCCESS)}")
    assert [event.text for event in events if isinstance(event, Raw)] == ["not JSON"]
    assert events[-1].reason == "complete"


def test_a_line_of_five_million_bytes_comes_whole(play):
    events = play(f"{LONG}; {say(SUCCESS)}")
    (result,) = [event.result for event in events if isinstance(event, ToolFinished)]
    assert (len(result), events[-1].reason) == (5_000_000, "complete")


def test_its_lines_are_kept_as_they_came(play, tmp_path):
    play(f"printf 'a\\377\\n\\nb'; {say(SUCCESS)}")
    assert (tmp_path / "claude.jsonl").read_bytes() == b"a\xff\n\nb" + SUCCESS.encode() + b"\n"


def test_a_program_that_ignores_every_signal_but_one_ends(play, workspace):
    began = time.monotonic()
    ended = play("trap '' INT TERM HUP; while true; do sleep 0.1; done", silence=2.0)[-1]
    assert ended.reason == "stalled"
    assert time.monotonic() - began < 25
    assert b"sleep 0.1" not in left(workspace)


def test_a_program_that_prints_without_end_ends_soon_after_its_time(play):
    began = time.monotonic()
    assert play("exec yes", seconds=5)[-1].reason == "time"
    assert time.monotonic() - began < 15


DAEMON = "setsid sh -c \"trap '' INT TERM HUP; exec sleep 4243\""


@pytest.mark.parametrize("output", [">/dev/null 2>&1", ""])
@pytest.mark.parametrize("limits", [{}, {"silence": 3.0}])
def test_nothing_is_left_of_a_program_that_leaves_others_behind(play, workspace, output, limits):
    wait = "exec sleep 4242" if limits else say(SUCCESS)
    ended = play(f"{DAEMON} {output} & {wait}", **limits)[-1]
    assert ended.reason == ("stalled" if limits else "complete")
    assert b"sleep 424" not in left(workspace)
