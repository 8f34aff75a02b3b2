"""The agent plays each scenario folder: a script and files in; events and files out.

A folder under `agent/` holds `task.json`, `script.json`, the trees `input/` and `expected/`, and
`events.txt`, one line for each event that is kept.
"""

from pathlib import Path

import msgspec
import pytest

from orchestrator.agent.loop import Agent
from orchestrator.events import CheckFinished, FilesTouched, ToolFinished, Turn, WorkerFinished
from orchestrator.models import scripted
from orchestrator.task import Task

FOLDERS = sorted((Path(__file__).parent / "agent").iterdir())


def told(event):
    match event:
        case Turn(step=step):
            return f"turn {step}"
        case ToolFinished(tool=tool, error=error):
            return f"{tool}: {'error' if error else 'ok'}"
        case FilesTouched(tool=tool):
            return f"files touched by {tool}"
        case CheckFinished(passed=passed, status=status):
            return "check: passed" if passed else f"check: failed with {status}"
        case WorkerFinished(reason=reason, message=message):
            return f"finished: {reason}, {message}" if message else f"finished: {reason}"


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_plays(folder, workspace, tmp_path):
    workspace.fill(tree(folder / "input"))
    model = scripted.ScriptedModel(scripted.read(folder / "script.json"))
    stated = msgspec.json.decode((folder / "task.json").read_bytes())
    task = msgspec.convert({"repository": "", **stated}, Task)
    events = [told(event) for event in Agent(model, tmp_path).work(task, workspace.box)]
    assert [line for line in events if line] == (folder / "events.txt").read_text().splitlines()
    assert workspace.tree() == tree(folder / "expected")
    model.finish()
