"""Model traffic is recorded while it passes, and played again with neither server nor key."""

import json
import re
from contextlib import contextmanager
from dataclasses import replace

import pytest

from orchestrator.errors import ModelError
from orchestrator.models.model import Prompt
from orchestrator.models.traffic import Recording, Replay
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.contracts.model_members import API_MEMBERS


@pytest.fixture(params=API_MEMBERS, ids=lambda member: member.name)
def member(request):
    return request.param


def ask(model, prompt="Hello?"):
    """The answer or the error, and the pieces in which its text came."""
    pieces = []
    try:
        answer = model.answer(
            "Be brief.", [Prompt(prompt)], [], max_output_tokens=99, on_text=pieces.append
        )
    except ModelError as problem:
        return type(problem), re.sub(r"http://[\w.:]+", "ADDRESS", str(problem)), pieces
    return answer, pieces


@contextmanager
def recording(member, folder, *steps, **access):
    """A model whose traffic goes to a folder."""
    traffic = Recording()
    with play(*steps) as api:
        given = replace(member.access(api.url), traffic=traffic, **access)
        model = member.connect(given)
        traffic.begin(folder, given.name)
        yield model
        model.finish()
    assert traffic.end() == ""


@contextmanager
def replaying(member, folder):
    access = replace(member.access("http://replay.invalid"), traffic=Replay(folder))
    model = member.connect(access)
    yield model
    model.finish()


def written(folder):
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("0*.json"))]


def test_answers_come_again_as_they_came(member, tmp_path):
    steps = (Step("On my way to a long answer.", fault=Fault(pieces=7)), Step("Bye."))
    with recording(member, tmp_path / "c", *steps) as model:
        before = [ask(model), ask(model, "And now?")]
    with replaying(member, tmp_path / "c") as model:
        assert [ask(model), ask(model, "And now?")] == before


def test_pieces_are_passed_on_as_they_come(member, tmp_path):
    with recording(member, tmp_path / "c", Step("x" * 100)) as model:
        assert ask(model)[1] == ["x" * 12] * 8 + ["x" * 4]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, error="rate_limit_error", headers={"retry-after": "30"}),
        Fault(status=529, error="overloaded_error"),
        Fault(after=3, then="close"),
        Fault(after=3, then="end"),
        Fault(after=3, then="error"),
        Fault(after=2, then="garbage"),
        Fault(instead="close"),
        Fault(instead="reset"),
        Fault(instead="html"),
    ],
)
def test_what_went_wrong_goes_wrong_again(member, tmp_path, fault):
    with recording(member, tmp_path / "c", Step("A long answer.", fault=fault)) as model:
        before = ask(model)
    with replaying(member, tmp_path / "c") as model:
        assert ask(model) == before
    assert issubclass(before[0], ModelError)
