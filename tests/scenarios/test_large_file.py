"""The agent mends one line of a file of 400 KB: by pieces, and no byte beside it changes."""

import difflib

import pytest

import splitters
from orchestrator.agent.loop import Agent
from orchestrator.events import ToolFinished, WorkerFinished
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.task import Task

BODY = "".join(f"    value = value * {n} + {n}\r\n" for n in range(30))
WRONG = b"def step_321(value):\r\n    value = value - 1\r\n"
SOURCE = "".join(
    f"def step_{n}(value):\r\n    value = value {'-' if n == 321 else '+'} 1\r\n{BODY}\r\n\r\n"
    for n in range(460)
).encode()
RIGHT = WRONG.replace(b"- 1", b"+ 1")


def piece_of(target):
    pieces = splitters.split(SOURCE, "python", target)
    return next(piece.number for piece in pieces.pieces if WRONG in pieces.content(piece))


@pytest.mark.parametrize("target", [4096, 32768])
def test_one_line_of_a_large_file_is_mended(workspace, tmp_path, target):
    assert len(SOURCE) > 400_000
    workspace.fill({"steps.py": SOURCE, "other.py": b"x = 1\n"})
    number = piece_of(target)
    old, new = (text.decode().replace("\r\n", "\n") for text in (WRONG, RIGHT))
    edit = {"piece": number, "old_text": old, "new_text": new}
    steps = (
        Step(calls=(Call("read_file", {"path": "steps.py"}),)),
        Step(
            expect="use split_file and read_piece",
            calls=(Call("split_file", {"path": "steps.py", "target_bytes": target}),),
        ),
        Step(
            expect="steps.py: 4", calls=(Call("read_piece", {"path": "steps.py", "piece": number}),)
        ),
        Step(
            expect="value = value - 1",
            calls=(Call("patch_file", {"path": "steps.py", "edits": [edit]}),),
        ),
        Step(expect="steps.py changed", calls=(Call("finish", {"message": "It adds now."}),)),
    )
    model = ScriptedModel(Script(steps))
    task = Task(repository="", prompt="Mend step 321.")
    events = list(Agent(model, tmp_path).work(task, workspace.box))
    model.finish()
    errors = [event.tool for event in events if isinstance(event, ToolFinished) and event.error]
    assert errors == ["read_file"]
    assert events[-1] == WorkerFinished(reason="complete", message="It adds now.")
    after = workspace.tree()
    assert after == {"steps.py": SOURCE.replace(WRONG, RIGHT), "other.py": b"x = 1\n"}
    lines = difflib.unified_diff(
        SOURCE.decode().splitlines(), after["steps.py"].decode().splitlines(), n=0
    )
    assert list(lines)[3:] == ["-    value = value - 1", "+    value = value + 1"]
