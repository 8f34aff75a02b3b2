"""Cassettes that were recorded once stay playable: each folder is one, with what it answers.

`python -m tests.scenarios.test_cassettes` records them anew, against the played API: for a new
version of the format, or when a provider's SDK sends something else.
"""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from orchestrator.models import table
from orchestrator.models.model import Prompt, Results, ToolResult, ToolSchema
from orchestrator.models.traffic import Recording, Replay
from tests.api.scenario import Call, Fault, Step
from tests.api.server import play

HERE = Path(__file__).parent / "cassettes"
MODELS = {"anthropic": "claude-x", "openai": "gpt-x", "ollama": "llama-x"}
TOOL = ToolSchema("look", "Look at a file.", {"type": "object", "properties": {}})
STEPS = (
    Step("I look, größer.", (Call("look"), Call("look")), thinking="Hm.", fault=Fault(pieces=9)),
    Step("Done."),
)


def converse(model):
    """What a model says in a conversation that is always the same."""
    talk, answers = [Prompt("Mend it.")], []
    for _ in STEPS:
        answer = model.answer("Be brief.", talk, [TOOL], max_output_tokens=99, on_text=len)
        results = (ToolResult(call.id, "== 1 failed in 2.57s ==") for call in answer.calls)
        talk += [answer, Results(tuple(results))]
        answers.append(json.loads(msgspec.json.encode(answer)))
    model.finish()
    return answers


@pytest.mark.parametrize("folder", sorted(HERE.glob("*")), ids=lambda folder: folder.name)
def test_answers_as_it_was_recorded(folder):
    traffic = Replay(folder)
    model = table.load(traffic.model, keys={}, traffic=traffic)
    assert converse(model) == json.loads((folder / "answers.json").read_bytes())
    assert traffic.end() == ""


def record(provider, name):
    folder, traffic = HERE / provider, Recording()
    shutil.rmtree(folder, ignore_errors=True)
    with play(*STEPS) as api:
        urls = {provider: api.url + ("" if provider == "anthropic" else "/v1")}
        keys = {row.variables[0]: "sk-played-0123456789" for row in table.PROVIDERS}
        model = table.load(f"{provider}:{name}", keys=keys, base_urls=urls, traffic=traffic)
        traffic.begin(folder, model.name)
        answers = converse(model)
    content = json.dumps(answers, indent=1, ensure_ascii=False)
    (folder / "answers.json").write_text(content + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in MODELS.items():
        record(*each)
