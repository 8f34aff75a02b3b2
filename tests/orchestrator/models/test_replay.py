"""Model traffic is recorded while it passes, and played again with neither server nor key."""

import json
import re
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from orchestrator.errors import ModelError, RateLimitedError, UsageError
from orchestrator.models import table
from orchestrator.models.model import Prompt
from orchestrator.models.traffic import Recording, Replay
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.contracts.model_members import API_MEMBERS, KEY


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


def test_equal_answers_to_equal_questions_come_in_their_order(member, tmp_path):
    with recording(member, tmp_path / "c", Step("One."), Step("Two."), Step("Three.")) as model:
        before = [ask(model) for _ in range(3)]
    with replaying(member, tmp_path / "c") as model:
        assert [ask(model) for _ in range(3)] == before


def test_a_date_to_come_back_at_is_as_far_away_as_it_was(member, tmp_path):
    fault = Fault(status=429, error="rate_limit_error")
    with recording(member, tmp_path / "c", Step(fault=fault)) as model:
        ask(model)
    first = tmp_path / "c" / "0001.json"
    written = json.loads(first.read_bytes())
    written["time"] -= 86_400
    written["headers"] = {
        "retry-after": format_datetime(datetime.now(UTC) - timedelta(hours=22), usegmt=True)
    }
    first.write_text(json.dumps(written))
    with replaying(member, tmp_path / "c") as model, pytest.raises(RateLimitedError) as raised:
        model.answer("Be brief.", [Prompt("Hello?")], [], max_output_tokens=99, on_text=len)
    assert raised.value.until == pytest.approx(time.time() + 7200, abs=30)


def test_another_question_ends_in_an_error_that_no_retry_repeats(member, tmp_path):
    with recording(member, tmp_path / "c", Step("Hello.")) as model:
        ask(model)
    with replaying(member, tmp_path / "c") as model, pytest.raises(ModelError) as raised:
        model.answer("Be brief.", [Prompt("Hullo?")], [], max_output_tokens=99, on_text=print)
    assert not raised.value.retryable
    assert "recorded was 'Hello?', asked is 'Hullo?'" in str(raised.value)


def test_the_key_is_nowhere_in_a_cassette(member, tmp_path):
    fault = Fault(status=401, error="authentication_error", message=f"bad key {KEY}, you see")
    with recording(member, tmp_path / "c", Step(fault=fault), Step("Hello.")) as model:
        ask(model)
        ask(model)
    content = b"".join(path.read_bytes() for path in (tmp_path / "c").iterdir())
    assert b"bad key *******************, you see" in content
    assert b"0123456789" not in content


def test_a_login_in_the_address_is_nowhere_in_a_cassette(member, tmp_path):
    traffic = Recording()
    with play(Step("Hello.")) as api:
        access = member.access(api.url.replace("//", "//ada:pass-0815@"))
        model = member.connect(replace(access, key="", traffic=traffic))
        traffic.begin(tmp_path / "c", access.name)
        ask(model)
        model.finish()
    content = b"".join(path.read_bytes() for path in (tmp_path / "c").iterdir())
    assert b"0815" not in content
    assert b"Be brief." in content


def test_a_recording_that_ends_early_says_so_and_work_goes_on(member, tmp_path):
    traffic = Recording(limit=3000)
    with play(Step("One."), Step("x" * 3000), Step("Three.")) as api:
        model = member.connect(replace(member.access(api.url), traffic=traffic))
        traffic.begin(tmp_path / "c", "m")
        texts = [ask(model)[0].text for _ in range(3)]
        model.finish()
    assert texts == ["One.", "x" * 3000, "Three."]
    assert traffic.end() == (
        "The recording ended after 1 request, because the run's model traffic is larger than a"
        " recording may be: the run cannot be replayed to its end."
    )


def test_a_recording_that_is_not_used_up_is_told(member, tmp_path):
    with recording(member, tmp_path / "c", Step("One."), Step("Two.")) as model:
        ask(model)
        ask(model)
    traffic = Replay(tmp_path / "c")
    model = member.connect(replace(member.access("http://replay.invalid"), traffic=traffic))
    ask(model)
    model.finish()
    assert traffic.end() == (
        "1 recorded request was not made again: the run ended earlier than the recorded one."
    )


def test_the_address_may_be_another_one(member, tmp_path):
    """A proxy of a company when it was recorded, none now: what counts is the path below it."""
    with recording(member, tmp_path / "c", Step("Hello.")) as model:
        before = ask(model)
    access = member.access("https://example.org/some/proxy")
    model = member.connect(replace(access, traffic=Replay(tmp_path / "c")))
    assert ask(model) == before
    model.finish()


def test_a_recorded_request_takes_the_proxy_of_the_environment(member, tmp_path, monkeypatch):
    with play(Step("Hello.")) as api:
        monkeypatch.setenv("HTTP_PROXY", api.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        traffic = Recording()
        model = member.connect(replace(member.access("http://api.invalid"), traffic=traffic))
        traffic.begin(tmp_path / "c", "m")
        assert ask(model)[0].text == "Hello."
        model.finish()
        headers = api.requests[0].headers
        assert (headers["host"], headers["accept-encoding"]) == ("api.invalid", "identity")


@pytest.mark.parametrize("spec", ["anthropic:m", "openai:m", "gemini:m", "openai-chat:m"])
def test_a_replay_needs_neither_key_nor_address(spec, tmp_path):
    with recording(API_MEMBERS[0], tmp_path / "c", Step("Hello.")) as model:
        ask(model)
    model = table.load(spec, keys={}, traffic=Replay(tmp_path / "c"))
    assert model.name == spec
    model.finish()


def test_without_a_recording_there_is_no_replay(tmp_path):
    with pytest.raises(UsageError, match="There is no recorded model traffic in"):
        Replay(tmp_path)
