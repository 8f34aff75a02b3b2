import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.gateway import chat, frames, messages
from sandbox.gateway.frames import Frames
from sandbox.gateway.meter import Meter
from sandbox.gateway.usage import Usage

STREAM = (
    b'event: a\ndata: {"n": 1}\n\n: ping\n\ndata: {"n":\ndata: 2}\r\n\r\ndata: [DONE]\n\n'
    b'data: no json\n\ndata: {"n": 3}\n\ndata: {"n": 4'
)


@given(st.lists(st.integers(0, len(STREAM))).map(sorted))
def test_events_are_the_same_however_the_stream_is_cut(places):
    found, passed = [], b""
    cutter = Frames()
    for start, end in zip([0, *places], [*places, len(STREAM)], strict=True):
        for piece, event in cutter.cut(STREAM[start:end]):
            passed += piece
            found += [event["n"]] if event else []
    assert (found, passed, cutter.between) == ([1, 2, 3], STREAM, False)


def test_an_event_beyond_all_measure_is_passed_on_unread(monkeypatch):
    monkeypatch.setattr(frames, "FRAME_CAP", 10)
    cutter = Frames()
    assert list(cutter.cut(b"data: 0123456789")) == [(b"data: 0123456789", None)]
    assert cutter.unread == 16


def metered(dialect, *events, asked=b"x" * 400):
    meter = Meter(dialect, asked, "text/event-stream; charset=utf-8")
    list(meter.cut(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)))
    return meter.usage, meter.exact


START = {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}
WROTE = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 80}}
STOP = {"type": "message_delta", "usage": {"output_tokens": 33}}


@pytest.mark.parametrize(
    ("events", "usage", "exact"),
    [
        ((), Usage(100, 0), False),
        ((START,), Usage(7, 1), False),
        ((START, WROTE), Usage(7, 20), False),
        ((START, WROTE, STOP), Usage(7, 33), True),
        ((WROTE,), Usage(100, 20), False),
        ((START, {"type": "message_delta", "usage": {"output_tokens": -5}}), Usage(7, 1), False),
        ((START, {"type": "message_delta", "usage": {"output_tokens": "9"}}), Usage(7, 1), False),
    ],
)
def test_usage_is_as_reported_and_estimated_until_then(events, usage, exact):
    assert metered(messages, *events) == (usage, exact)


def test_tool_calls_of_a_chat_count_as_text():
    call = {"id": "x" * 100, "function": {"name": "read", "arguments": "y" * 36}}
    assert metered(chat, {"choices": [{"delta": {"tool_calls": [call]}}]})[0].output_tokens == 10


def test_pictures_in_a_request_do_not_count_as_text():
    picture = b'{"data":"' + b"A" * 100_000 + b'"}' + b"x" * 38
    assert metered(messages, asked=picture)[0].input_tokens < 20
