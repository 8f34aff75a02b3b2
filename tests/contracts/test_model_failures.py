"""What every Model over an API does when the API does not."""

import time
import traceback

import pytest

from orchestrator.errors import ModelAuthError, ModelError, ModelRefusedError, RateLimitedError
from orchestrator.models.model import Prompt
from tests.api.scenario import Fault, Step
from tests.contracts.model_members import API_MEMBERS, KEY


@pytest.fixture(params=API_MEMBERS, ids=lambda member: member.name)
def member(request):
    return request.param


def ask(model, on_text=lambda text: None):
    return model.answer("", [Prompt("go")], (), max_output_tokens=100, on_text=on_text)


def failure(member, fault, text="An answer of several pieces.", **more):
    with member.stage(Step(text, fault=fault), **more) as on, pytest.raises(ModelError) as raised:
        ask(on.model)
    assert len(on.api.requests) == 1
    return raised.value


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, ModelRefusedError, False),
        (401, ModelAuthError, False),
        (402, ModelRefusedError, False),
        (403, ModelAuthError, False),
        (404, ModelRefusedError, False),
        (408, ModelError, True),
        (409, ModelError, False),
        (413, ModelRefusedError, False),
        (422, ModelRefusedError, False),
        (429, RateLimitedError, True),
        (500, ModelError, True),
        (501, ModelError, False),
        (502, ModelError, True),
        (503, ModelError, True),
        (504, ModelError, True),
        (529, ModelError, True),
    ],
)
def test_a_status_has_its_error(member, status, kind, retryable):
    error = failure(member, Fault(status=status, error="a_code", message="The reason."))
    assert (type(error), error.retryable) == (kind, retryable)
    assert f"{member.name}:model-1 answered {status} (a_code): The reason" in str(error)


@pytest.mark.parametrize("status", [401, 403])
def test_a_rejected_key_is_named_by_its_variable(member, status):
    assert f"set {member.name.upper()}_KEY to" in str(failure(member, Fault(status=status)))


def test_used_up_money_is_no_rate_limit(member):
    error = failure(member, Fault(status=429, error="insufficient_quota"))
    assert (type(error), error.retryable) == (ModelRefusedError, False)


@pytest.mark.parametrize(
    ("name", "value", "seconds"), [("retry-after", "30", 30), ("retry-after-ms", "1500", 1.5)]
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_time_of_a_retry_is_told(member, name, value, seconds, status):
    before = time.time()
    error = failure(member, Fault(status=status, headers={name: value}))
    assert before + seconds <= error.until <= time.time() + seconds


def test_the_time_of_a_retry_may_be_a_date(member):
    date = {"retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"}
    assert failure(member, Fault(status=429, headers=date)).until == 4133980799


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}, {"retry-after": "inf"}])
def test_without_a_readable_time_there_is_none(member, headers):
    assert failure(member, Fault(status=429, headers=headers)).until is None


@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize("then", ["end", "close", "reset"])
def test_a_cut_stream_is_no_answer(member, after, then):
    error = failure(member, Fault(after=after, then=then), "text")
    assert (type(error), error.retryable) == (ModelError, True)


def test_what_is_no_json_is_no_answer(member):
    error = failure(member, Fault(after=2, then="garbage"))
    assert (type(error), error.retryable) == (ModelError, True)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_without_an_answer_may_be_tried_again(member, how):
    error = failure(member, Fault(instead=how))
    assert (type(error), error.retryable) == (ModelError, True)


@pytest.mark.parametrize("fault", [Fault(instead="hang"), Fault(after=3, then="stall")])
def test_silence_ends(member, fault):
    error = failure(member, fault, silence=0.2)
    assert (type(error), error.retryable) == (ModelError, True)


@pytest.mark.parametrize("kind", ["html", "json"])
def test_what_is_no_stream_points_at_the_base_url(member, kind):
    error = failure(member, Fault(instead=kind))
    assert (type(error), error.retryable) == (ModelError, False)
    assert str(error).startswith("http://127.0.0.1")
    assert "check the base URL" in str(error)


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("overloaded_error", ModelError, True),
        ("server_error", ModelError, True),
        ("rate_limit_exceeded", RateLimitedError, True),
        ("insufficient_quota", ModelRefusedError, False),
        ("invalid_request_error", ModelRefusedError, False),
    ],
)
def test_an_error_inside_the_stream_has_its_error(member, code, kind, retryable):
    error = failure(member, Fault(after=3, then="error", error=code, message="Why."))
    assert (type(error), error.retryable) == (kind, retryable)
    assert f"({code}): Why" in str(error)


def test_nobody_there_may_be_tried_again(member):
    model = member.connect(member.access("http://me:word@127.0.0.1:1"))
    with pytest.raises(ModelError) as raised:
        ask(model)
    model.finish()
    assert raised.value.retryable
    assert str(raised.value) == (
        f"No connection to {model.name} at http://127.0.0.1:1{member.path}:"
        " [Errno 111] Connection refused; is it running?"
        f" {member.name.upper()}_BASE_URL changes the address"
    )


@pytest.mark.parametrize("fault", [Fault(status=401), Fault(after=1, then="error")])
def test_the_key_is_in_no_error(member, fault):
    quoting = Fault(fault.status, message=f"Bad key {KEY}!", after=fault.after, then=fault.then)
    error = failure(member, quoting)
    shown = "".join(traceback.format_exception(error)) + repr(member.access(""))
    assert "Bad key [key]!" in shown
    assert KEY not in shown


def test_pieces_of_one_byte_make_the_same_answer(member):
    with member.stage(Step("Grüße 👋", fault=Fault(pieces=1))) as on:
        assert ask(on.model).text == "Grüße 👋"


def test_the_environment_adds_nothing(member, monkeypatch):
    for sdk in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
            monkeypatch.setenv(f"{sdk}_{name}", "leaked")
        monkeypatch.setenv(f"{sdk}_BASE_URL", "http://127.0.0.1:1")
        monkeypatch.setenv(f"{sdk}_CUSTOM_HEADERS", "x-extra: leaked\nauthorization: leaked")
    with member.stage(Step("ok")) as on:
        ask(on.model)
    assert on.api.requests[0].key == KEY
    assert "leaked" not in str(on.api.requests[0].headers)


@pytest.mark.parametrize(
    "event",
    [
        '{"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "x"}}',
        '{"type": "message_start"}',
        '{"type": "response.output_item.done"}',
        '{"type": "response.output_text.delta", "delta": 5}',
        '{"choices": [{"index": 0}]}',
        '{"choices": 5}',
        "[]",
        "5",
        "null",
        "{}",
    ],
)
def test_events_of_another_shape_are_no_answer(member, event):
    frames = (f"event: message\ndata: {event}\n\n",)
    with member.stage(Step(raw=frames)) as on, pytest.raises(ModelError):
        ask(on.model)


def test_what_the_listener_raises_is_not_taken_for_the_api(member):
    def listen(text):
        raise KeyError(text)

    with member.stage(Step("text")) as on, pytest.raises(KeyError):
        ask(on.model, listen)
