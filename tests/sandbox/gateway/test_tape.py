"""The gateway records what passes, and plays it again with no provider behind it."""

from contextlib import ExitStack

import pytest

from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.cassette import read
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.player import Player
from sandbox.gateway.provider import Provider
from sandbox.gateway.recorder import Recorder
from sandbox.gateway.routes import Route
from sandbox.gateway.tape import RecordedUpstream, ReplayedUpstream
from tests.api.scenario import Fault, Step
from tests.api.server import play
from tests.sandbox.gateway.conftest import HELLO, KEY, TOKEN, Asker
from tests.sandbox.gateway.test_models import APIS, CHAT, every_api, routes

NEXT_TOKEN = "run-token-9876543210"
NOWHERE = (
    Route("anthropic", "http://127.0.0.1:1", "", ("claude-*",)),
    Route("openai", "http://127.0.0.1:1/v1", "", ("gpt-*",)),
)


@pytest.fixture
def tape(connect, tmp_path):
    """Gateways that record into one cassette, or replay it for a run with another token."""
    with ExitStack() as stack:

        def asker(routes, token, upstream):
            models = Models(routes, token, upstream, Ledger(Budget(), lambda model, usage: None))
            return Asker(connect, stack.enter_context(open_gateway(models)), models, [])

        class Tape:
            folder = tmp_path / "cassette"

            def record(self, api):
                upstream = RecordedUpstream(Provider(), Recorder(self.folder), TOKEN)
                return asker(routes(api), TOKEN, upstream)

            def replay(self):
                upstream = ReplayedUpstream(Player(read(self.folder)), NEXT_TOKEN)
                return asker(NOWHERE, NEXT_TOKEN, upstream)

        yield Tape()


def again(asker, *asked, **more):
    return asker.ask(*asked, headers={"x-api-key": NEXT_TOKEN}, **more)


@every_api
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_played_as_it_came(tape, path, stream):
    with play(Step("hello, world " * 9, fault=Fault(pieces=7)), Step("bye")) as api:
        asker = tape.record(api)
        before = [asker.ask({**APIS[path], "stream": stream}, path) for _ in range(2)]
    replayed = tape.replay()
    now = [again(replayed, {**APIS[path], "stream": stream}, path) for _ in range(2)]
    assert [(one.status, one.body) for one in now] == [(one.status, one.body) for one in before]
    assert [one.headers["content-type"] for one in now] == [
        one.headers["content-type"] for one in before
    ]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, error="rate_limit_error", headers={"retry-after": "30"}),
        Fault(status=529, error="overloaded_error"),
        Fault(after=3, then="close"),
        Fault(instead="close"),
    ],
)
def test_what_went_wrong_goes_wrong_again(tape, fault):
    streamed = {**HELLO, "stream": True}
    with play(Step("hello", fault=fault)) as api:
        before = tape.record(api).ask(streamed)
    now = again(tape.replay(), streamed)
    assert (now.status, now.body) == (before.status, before.body)
    assert now.headers.get("retry-after") == before.headers.get("retry-after")


def test_nothing_waits_for_the_recording(tape):
    with play(Step("hello", fault=Fault(after=2, then="stall"))) as api:
        response = tape.record(api).begin({**HELLO, "stream": True})
        assert response.readline() == b"event: message_start\n"
        response.close()


def test_a_question_that_was_not_recorded_is_refused_with_the_first_difference(tape):
    with play(Step("hello")) as api:
        tape.record(api).ask(CHAT, "/v1/chat/completions")
    other = {**CHAT, "messages": [{"role": "user", "content": "ho"}]}
    answer = again(tape.replay(), other, "/v1/chat/completions")
    assert answer.status == 400
    assert (
        "messages[0].content: recorded was 'hi', asked is 'ho'" in answer.json["error"]["message"]
    )


def test_neither_the_key_nor_the_token_is_written_and_another_token_is_no_difference(tape):
    def asked(token):
        return {**HELLO, "messages": [{"role": "user", "content": f"my token is {token}"}]}

    with play(Step(fault=Fault(status=400, message=f"no such key: {KEY}"))) as api:
        before = tape.record(api).ask(asked(TOKEN))
    written = b"".join(path.read_bytes() for path in tape.folder.iterdir())
    assert b"my token is ****" in written
    assert b"0123456789" not in written
    assert again(tape.replay(), asked(NEXT_TOKEN)).body == before.body
