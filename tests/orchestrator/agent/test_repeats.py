"""Equal failures are counted until an edit succeeds."""

from orchestrator.agent.repeats import Repeats
from orchestrator.models.model import ToolCall, ToolResult
from orchestrator.tools.table import TOOLS

BY_NAME = {tool.name: tool for tool in TOOLS}


def note(repeats, name, text, error, arguments="{}"):
    calls, results = [ToolCall("1", name, arguments)], [ToolResult("1", text, error)]
    return repeats.note(calls, results, BY_NAME)


def test_equal_failures_are_counted():
    repeats = Repeats()
    assert [note(repeats, "bash", "no", True) for _ in range(3)] == [1, 2, 3]


def test_another_result_or_other_arguments_are_another_failure():
    repeats = Repeats()
    note(repeats, "bash", "no", True)
    assert note(repeats, "bash", "never", True) == 1
    assert note(repeats, "bash", "no", True, '{"command": "x"}') == 1


def test_a_success_is_not_counted():
    repeats = Repeats()
    assert [note(repeats, "bash", "yes", False) for _ in range(3)] == [0, 0, 0]


def test_a_successful_edit_starts_anew_and_a_read_does_not():
    repeats = Repeats()
    note(repeats, "bash", "no", True)
    note(repeats, "read_file", "text", False)
    assert note(repeats, "bash", "no", True) == 2
    note(repeats, "edit_file", "edited", False)
    assert note(repeats, "bash", "no", True) == 1


def test_an_unknown_tool_fails_like_any_other():
    assert note(Repeats(), "launch_rocket", "unknown tool", True) == 1
