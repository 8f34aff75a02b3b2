"""What the host takes for a frame, whatever comes out of a sandbox and in whatever pieces."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import frames
from sandbox.errors import CrossingError
from sandbox.frames import DONE, ENDED, ENDING, ERR, HELLO, OUT, PIECE, Frame, Unwrapping, frame
from sandbox.inside import wire

WORDS = (
    *("HELLO", "OUT", "ERR", "INPUT_ROOM", "ENDED", "DONE", "START", "CALL", "INPUT", "ROOM"),
    *(
        "STOP",
        "SIGNAL",
        "EXITED",
        "SIGNALLED",
        "TIMED_OUT",
        "STOPPED",
        "KILLED",
        "REFUSED",
        "PIECE",
    ),
)


def engine(data: bytes, stream: int = 1) -> bytes:
    """As the engine wraps what a program prints."""
    return struct.pack(">BxxxI", stream, len(data)) + data


def heard(*pieces: bytes) -> list[Frame]:
    unwrapping = Unwrapping()
    return [told for piece in pieces for told in unwrapping.feed(piece)]


def whole(told: list[Frame]) -> dict[tuple[int, int], bytes]:
    """All content of each kind for each command."""
    joined: dict[tuple[int, int], bytes] = {}
    for one in told:
        key = (one.kind, one.number)
        joined[key] = joined.get(key, b"") + one.content
    return joined


def test_both_sides_mean_the_same():
    assert {w: getattr(frames, w) for w in WORDS} == {w: getattr(wire, w) for w in WORDS}
    formats = ("HEADER", "NUMBER", "ENDING")
    assert [getattr(frames, f).format for f in formats] == [
        getattr(wire, f).format for f in formats
    ]
    assert (frames.WINDOW, frames.INPUT_WINDOW) == (wire.ROOM_AT_FIRST, wire.INPUT_AT_FIRST)


SAID = [frame(HELLO, 0), frame(OUT, 1, b"out"), frame(ERR, 2, b"err" * 99)]
SAID += [frame(ENDED, 1, ENDING.pack(0, 7)), frame(DONE, 1)]


@given(st.integers(1, 40), st.integers(1, 40))
def test_frames_come_out_whatever_the_pieces(inner, outer):
    said = b"".join(SAID)
    wrapped = b"".join(engine(said[at : at + inner]) for at in range(0, len(said), inner))
    pieces = [wrapped[at : at + outer] for at in range(0, len(wrapped), outer)]
    assert whole(heard(*pieces)) == {
        **{(HELLO, 0): b"", (OUT, 1): b"out", (ERR, 2): b"err" * 99},
        **{(ENDED, 1): ENDING.pack(0, 7), (DONE, 1): b""},
    }


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_what_is_no_frame_is_one_error_and_no_other(pieces):
    try:
        told = heard(*map(engine, pieces))
    except CrossingError:
        return
    assert all(one.kind in range(1, 7) and len(one.content) <= PIECE for one in told)


@pytest.mark.parametrize("length", [0, PIECE + 1, 0xFFFFFFFF])
def test_a_length_that_no_server_sends_is_refused_before_it_is_waited_for(length):
    with pytest.raises(CrossingError):
        heard(engine(struct.pack(">BII", OUT, 1, length)))


def test_what_comes_beside_the_frames_is_kept_for_the_error():
    unwrapping = Unwrapping()
    assert list(unwrapping.feed(engine(b"Traceback", stream=2))) == []
    assert unwrapping.complaint == b"Traceback"
