"""A call is checked, carried out and bounded; whatever goes wrong is a result."""

import time

import pytest

from orchestrator.events import Warned
from orchestrator.models.model import ToolCall, ToolResult, ToolSchema
from orchestrator.tools.table import TOOLS
from orchestrator.tools.tool import Context, ToolError, tool, use, watch
from sandbox.errors import DiskFullError, SandboxError, SandboxLostError


def repeat(context, word: str, times: int = 1) -> str:
    """Say a word.

    It may be said more than once.

    Args:
        word: What to say, which may be
            a long word.
        times: How often.
    """
    if times < 0:
        raise ToolError("times: expected 0 or more")
    if word == "lost":
        raise SandboxLostError("The sandbox is gone.")
    return "\n".join([word] * times) if word != "bug" else 1 / 0


REPEAT = tool(repeat, "read", limit=1_000)


@pytest.fixture
def context(tmp_path):
    return Context(None, tmp_path, "step-1-call-2", time.monotonic() + 60, print)


def used(context, arguments):
    return use(REPEAT, ToolCall("7", "repeat", arguments), context)


def test_the_schema_comes_from_signature_and_docstring():
    word = {"type": "string", "description": "What to say, which may be a long word."}
    times = {"type": "integer", "description": "How often.", "default": 1}
    assert REPEAT.schema == ToolSchema(
        "repeat",
        "Say a word.\n\nIt may be said more than once.",
        {
            "type": "object",
            "properties": {"word": word, "times": times},
            "required": ["word"],
            "additionalProperties": False,
        },
    )


def test_the_table_has_every_tool_with_its_category():
    assert {each.name: each.category for each in TOOLS} == {
        "read_file": "read",
        "write_file": "write",
        "edit_file": "write",
        "apply_patch": "write",
        "split_file": "read",
        "read_piece": "read",
        "patch_file": "write",
        "outline": "read",
        "delete_file": "write",
        "move_file": "write",
        "list_dir": "read",
        "glob": "read",
        "grep": "read",
        "find_files": "read",
        "bash": "execute",
        "terminal": "execute",
        "finish": "read",
    }


def test_a_good_call_gives_its_text(context):
    assert used(context, '{"word": "a", "times": 2}') == ToolResult("7", "a\na")


def test_bad_arguments_are_a_result(context):
    result = used(context, '{"times": "2"}')
    message = "missing required argument: word; times: expected integer, got string"
    assert result == ToolResult("7", message, error=True)


def test_a_tools_own_problem_is_a_result(context):
    result = used(context, '{"word": "a", "times": -1}')
    assert result == ToolResult("7", "times: expected 0 or more", error=True)


def test_a_defect_of_ours_is_a_result(context):
    result = used(context, '{"word": "bug"}')
    message = "repeat failed inside: ZeroDivisionError('division by zero')"
    assert result == ToolResult("7", message, error=True)


def test_a_lost_sandbox_is_an_error(context):
    with pytest.raises(SandboxError):
        used(context, '{"word": "lost"}')


def test_artifacts_that_cannot_be_written_end_the_run(context, tmp_path):
    (tmp_path / "step-1-call-2.txt").symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match="No space left on device"):
        used(context, '{"word": "again", "times": 1000}')


def test_no_result_is_empty(context):
    assert used(context, '{"word": "a", "times": 0}') == ToolResult("7", "(no output)")


def test_half_a_character_in_a_result_can_still_be_sent(context):
    assert used(context, r'{"\ud83d": 1}').text.startswith("unknown argument: ?")


def test_a_long_result_is_cut_and_kept_whole_as_an_artifact(context, tmp_path):
    result = used(context, '{"word": "again", "times": 1000}')
    assert len(result.text) <= 1_000
    assert "artifact step-1-call-2.txt" in result.text
    assert (tmp_path / "step-1-call-2.txt").read_text() == "\n".join(["again"] * 1000)


def announce(context, word: str):
    """Say it before it is done.

    Args:
        word: What to say.
    """
    yield Warned(text=word)
    if word == "no":
        raise ToolError("It failed.")
    if word == "lost":
        raise SandboxLostError("The sandbox is gone.")
    return word * 1_000


WATCHED = tool(announce, "execute", limit=1_000, watched=True)


def watched(context, arguments):
    """The events of a call, and its result."""
    events = []

    def through():
        return (yield from watch(WATCHED, ToolCall("7", "announce", arguments), context))

    work = through()
    while True:
        try:
            events.append(next(work))
        except StopIteration as end:
            return events, end.value


def test_a_watched_call_tells_its_events_and_its_result_is_bounded(context):
    events, result = watched(context, '{"word": "ab"}')
    assert events == [Warned(text="ab")]
    assert (len(result.text) <= 1_000, result.error) == (True, False)


def test_a_watched_call_that_fails_is_a_result(context):
    assert watched(context, '{"word": "no"}') == (
        [Warned(text="no")],
        ToolResult("7", "It failed.", error=True),
    )
    assert watched(context, "{}")[1].text == "missing required argument: word"


def test_a_sandbox_that_dies_under_a_watched_call_is_no_result(context):
    with pytest.raises(SandboxLostError):
        watched(context, '{"word": "lost"}')
