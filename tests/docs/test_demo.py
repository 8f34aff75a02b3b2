"""The demo's script has to fit the tools, and what it fetches has to be pinned."""

import json
import re
from pathlib import Path

import orchestrator
from orchestrator.models import scripted
from orchestrator.tools.table import TOOLS

DEMO = Path(orchestrator.__file__).parents[1] / "docs" / "demo"


def test_the_script_calls_tools_that_exist_with_arguments_they_know():
    schemas = {tool.name: tool.schema.parameters["properties"] for tool in TOOLS}
    calls = [call for step in scripted.read(DEMO / "script.json").steps for call in step.calls]
    assert calls
    for call in calls:
        assert set(json.loads(call.json)) <= set(schemas[call.tool])


def test_the_script_begins_with_the_task():
    first = scripted.read(DEMO / "script.json").steps[0]
    assert first.expect in (DEMO / "task.txt").read_text()


def test_the_release_is_pinned_by_its_hash():
    assert re.search(r"^sqlparse==\S+ --hash=sha256:[0-9a-f]{64}$", pinned(), re.MULTILINE)


def pinned() -> str:
    return (DEMO / "requirements.txt").read_text()
