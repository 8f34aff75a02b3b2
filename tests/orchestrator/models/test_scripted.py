import pytest

from orchestrator.errors import ScriptError, UsageError
from orchestrator.models.model import Answer, Prompt, Results, ToolCall, ToolResult
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step, read
from orchestrator.pricing import Usage

JSON = """{"steps": [
  {"text": "Looking.", "calls": [{"tool": "read_file", "arguments": {"path": "a.py"}}],
   "expect": "fix", "usage": {"input_tokens": 9, "output_tokens": 4}},
  {"text": "Done."}]}"""

TOML = """
[[steps]]
text = "Looking."
expect = "fix"
usage = { input_tokens = 9, output_tokens = 4 }
calls = [{ tool = "read_file", arguments = { path = "a.py" } }]
[[steps]]
text = "Done."
"""


def scripted(*steps):
    return ScriptedModel(Script(steps))


def ask(model, *conversation, on_text=lambda text: None):
    return model.answer("", conversation, (), max_output_tokens=100, on_text=on_text)


@pytest.mark.parametrize(("name", "text"), [("script.json", JSON), ("script.toml", TOML)])
def test_a_script_is_read_from_json_and_toml(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    first = Step("Looking.", (Call("read_file", {"path": "a.py"}),), "fix", Usage(9, 4))
    assert read(tmp_path / name) == Script((first, Step("Done.")))


def test_a_step_becomes_an_answer_with_calls():
    step = Step("Looking.", (Call("read_file", {"path": "a.py"}),), usage=Usage(9, 4))
    call = ToolCall("call_1_1", "read_file", '{"path": "a.py"}')
    expected = Answer("Looking.", (call,), Usage(9, 4), "tools")
    assert ask(scripted(step), Prompt("go")) == expected


def test_a_step_without_calls_is_complete():
    assert ask(scripted(Step("Done.")), Prompt("go")) == Answer(
        "Done.", (), Usage(0, 0), "complete"
    )


def test_a_step_may_name_another_stop():
    assert ask(scripted(Step("half", stop="length")), Prompt("go")).stop == "length"


def test_text_is_streamed():
    shown = []
    ask(scripted(Step("Done.")), Prompt("go"), on_text=shown.append)
    assert shown == ["Done."]


def test_broken_arguments_are_sent_as_written():
    broken = Step(calls=(Call("edit_file", arguments_text="{broken"),))
    assert ask(scripted(broken), Prompt("go")).calls[0].arguments == "{broken"


def test_an_expectation_is_met_by_results():
    told = Results((ToolResult("a", "one"), ToolResult("b", "two")))
    assert ask(scripted(Step("ok", expect="two")), Prompt("go"), told).text == "ok"


def test_a_missed_expectation_is_told():
    with pytest.raises(ScriptError, match=r"step 1 expects 'tests pass' .* but that was: go"):
        ask(scripted(Step(expect="tests pass")), Prompt("go"))


def test_a_missing_step_is_told():
    with pytest.raises(ScriptError, match="no step 1; it was told: go"):
        ask(scripted(), Prompt("go"))


def test_a_played_script_finishes():
    model = scripted(Step("Done."))
    ask(model, Prompt("go"))
    model.finish()


def test_a_step_left_over_is_told():
    with pytest.raises(ScriptError, match="with 1 of 1 step of the script left over"):
        scripted(Step("Done.")).finish()


def test_a_swallowed_disagreement_is_told_again_at_the_end():
    model = scripted(Step(expect="never said"))
    with pytest.raises(ScriptError) as first:
        ask(model, Prompt("go"))
    with pytest.raises(ScriptError) as again:
        model.finish()
    assert again.value is first.value


@pytest.mark.parametrize(
    "text", ['{"steps": [{"txt": "typo"}]}', "not json", '{"steps": 1}', "[]", "\xff"]
)
def test_a_broken_script_is_refused_with_its_name(tmp_path, text):
    (tmp_path / "script.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"script\.json is not a script of a model: .*") as said:
        read(tmp_path / "script.json")
    (tmp_path / "least.json").write_text(str(said.value).partition("in JSON: ")[2].rstrip("."))
    assert read(tmp_path / "least.json").steps[0].text == "Done."


def test_a_missing_script_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"The script .* cannot be read: No such file"):
        read(tmp_path / "script.json")
