"""A run that was told to keep to some paths: held by its tools, and by what is recorded."""

import pytest

from orchestrator.events import Changed, ToolFinished
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.outcome import Outcome

APP = "src/app.py"
EDIT = {"path": APP, "old_string": "a + b", "new_string": "b + a"}


def played(*calls):
    steps = tuple(Step(calls=(Call(tool, given),)) for tool, given in calls)
    return ScriptedModel(Script((*steps, Step(text="Done."))))


@pytest.mark.parametrize("script", ["echo x >> README.md", "echo x > new", "rm README.md"])
def test_a_command_s_change_elsewhere_is_blocked(desk, script):
    ran = desk.run(f"echo '# x' >> {APP}; {script}", only=(APP,))
    assert (ran.record.outcome, ran.record.branch) == (Outcome.BLOCKED, "")
    assert [finding.rule for finding in ran.record.findings] == ["boundary.outside"]
    assert f"but only {APP} may change" in ran.record.message


def test_a_change_of_what_is_named_is_delivered(desk):
    ran = desk.run(f"echo '# x' >> {APP}; echo x > /tmp/x; echo x > ignored.log", only=("src",))
    assert ran.record.outcome is Outcome.DONE


def test_a_file_tool_refuses_another_path(desk):
    other = {"path": "README.md", "content": "x"}
    model = played(("write_file", other), ("edit_file", EDIT))
    ran = desk.run(model=model, only=(APP,))
    refused, edited = ran.told(ToolFinished)
    assert refused.result.startswith(f"README.md: not allowed; only {APP} may be changed")
    assert (edited.error, ran.record.outcome) == (False, Outcome.DONE)


def test_a_renamed_file_is_edited_further(desk):
    moved = ("move_file", {"source": APP, "destination": "src/sums.py"})
    edit = ("edit_file", {**EDIT, "path": "src/sums.py"})
    ran = desk.run(model=played(moved, edit), only=(APP,))
    assert (ran.record.outcome, len(ran.subjects)) == (Outcome.DONE, 2)
    assert [change.findings for change in ran.told(Changed)] == [(), ()]


def test_what_was_taken_back_is_not_seen(desk):
    there = ("bash", {"command": "echo x > stray"})
    back = ("bash", {"command": "rm stray"})
    ran = desk.run(model=played(there, ("edit_file", EDIT), back), only=(APP,))
    assert (ran.record.outcome, ran.subjects) == (Outcome.DONE, ["all changes as one"])
