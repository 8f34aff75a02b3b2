"""A cassette holds what passed, nothing secret, and survives how its writer ends."""

import itertools
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.gateway.cassette import CassetteError, label, read, size
from sandbox.gateway.player import Player
from sandbox.gateway.recorder import Recorder

KEY = "sk-ant-api03-key/with+signs"
ASK = b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'


def record(recorder, body=ASK, chunks=(b"hi",), *, target="/v1/messages", headers=(), **end):
    taking = recorder.begin("POST", target, dict(headers), body)
    taking.answered(200, {"Content-Type": "text/event-stream", "Set-Cookie": "a=b"})
    for chunk in chunks:
        taking.chunk(chunk)
    taking.finish(**end)


def contents(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def said(exchange):
    return [chunk.content for chunk in exchange.chunks]


def test_an_exchange_is_a_readable_file(tmp_path):
    record(Recorder(tmp_path, model="anthropic:m"), chunks=("grüß dich\n".encode(), b"\xff"))
    written = json.loads((tmp_path / "0001.json").read_bytes())
    times = [chunk.pop("at") for chunk in written["chunks"]]
    assert times == sorted(times)
    assert written.pop("time") > 1_700_000_000
    assert written == {
        "version": 1,
        "method": "POST",
        "target": "/v1/messages",
        "body": {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
        "status": 200,
        "headers": {"content-type": "text/event-stream"},
        "chunks": [{"text": "grüß dich\n"}, {"base64": "/w=="}],
        "end": "complete",
        "error": "",
    }
    assert '  {"role": "user", "content": "hello"}\n' in (tmp_path / "0001.json").read_text()
    assert label(tmp_path).model == "anthropic:m"
    assert size(tmp_path) == len(contents(tmp_path))


bodies = st.one_of(
    st.binary(max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(st.lists(st.tuples(bodies, st.lists(st.binary(max_size=30))), max_size=5))
def test_what_was_recorded_is_played_byte_for_byte(tmp_path_factory, exchanges):
    folder = tmp_path_factory.mktemp("cassette")
    recorder = Recorder(folder)
    for body, chunks in exchanges:
        record(recorder, body, chunks)
    player = Player(read(folder) if exchanges else ())
    played = [player.play("POST", "/v1/messages", body) for body, _ in exchanges]
    assert [said(each) for each in played] == [chunks for _, chunks in exchanges]
    assert (recorder.stopped, player.left) == ("", 0)


@pytest.mark.parametrize("cuts", [[], [7], [3, 9, 20], list(range(1, 60))])
def test_no_secret_is_written_however_it_comes(tmp_path, cuts):
    escaped = KEY.replace("/", "\\/")
    quoted = "sk-ant-api03-key%2Fwith%2Bsigns"
    echo = f'{{"error": "Incorrect given-key-1 {KEY} or {escaped} or {quoted}"}}'
    edges = [0, *cuts, len(echo)]
    chunks = [echo[a:b].encode() for a, b in itertools.pairwise(edges)]
    recorder = Recorder(tmp_path)
    taking = recorder.begin(
        "POST",
        "/v1/messages?beta=true&key=url-secret&api_key=another-one&page_token=third-one",
        {"X-Api-Key": KEY, "Authorization": "Basic dXNlcjpwYXNzd29yZC0x", "Cookie": "sid=cookie-1"},
        json.dumps({"messages": f"{KEY} password-1 given-token"}).encode(),
        keys=["given-key-1"],
        tokens=["given-token"],
    )
    headers = {"location": "https://me:password-1@host/v1?token=in-location", "retry-after": KEY}
    taking.answered(401, {**headers, "x-request-key": "response-key"})
    for chunk in chunks:
        taking.chunk(chunk)
    taking.finish("cut", f"ReadError: proxy said {KEY}")
    found = contents(tmp_path).decode()
    for secret in ("api03", "url-secret", "another-one", "third-one", "password-1", "cookie-1"):
        assert secret not in found
    for secret in ("given-token", "given-key", "in-location", "response-key", "dXNlcjpwYXNz"):
        assert secret not in found
    (exchange,) = read(tmp_path)
    assert [len(each) for each in said(exchange)] == [len(chunk) for chunk in chunks]
    assert b"".join(said(exchange)).startswith(b'{"error": "Incorrect ****')
    assert exchange.target == "/v1/messages?beta=true&key=***&api_key=***&page_token=***"


def test_a_key_in_a_request_ends_the_recording(tmp_path):
    recorder = Recorder(tmp_path)
    record(recorder)
    recorder.begin("POST", "/", {}, b"what is given-key-1?", ["given-key-1"]).finish()
    record(recorder)
    assert (recorder.stopped, len(read(tmp_path))) == ("a request held the key itself", 1)


def test_words_of_every_day_are_no_secrets(tmp_path):
    record(Recorder(tmp_path), chunks=(b"none of it",), headers={"authorization": "Bearer none"})
    assert said(read(tmp_path)[0]) == [b"none of it"]


def test_the_nth_of_equal_requests_gets_the_nth_answer(tmp_path):
    recorder = Recorder(tmp_path)
    for number in range(12):
        record(recorder, chunks=(b"%d" % number,))
    player = Player(read(tmp_path))
    same = b'{"messages": [{"content": "hello", "role": "user"}],\n "model": "m"}'
    played = [said(player.play("POST", "/v1/messages", same)) for _ in range(12)]
    assert played == [[b"%d" % number] for number in range(12)]


def test_parallel_requests_each_get_their_own(tmp_path):
    recorder = Recorder(tmp_path)

    def talk(number):
        record(recorder, b'{"n": %d}' % number, (b"%d" % number,) * 50)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    player = Player(read(tmp_path))
    for number in reversed(range(20)):
        played = player.play("POST", "/v1/messages", b'{"n": %d}' % number)
        assert said(played) == [b"%d" % number] * 50


def test_a_torn_last_file_is_left_out(tmp_path):
    recorder = Recorder(tmp_path)
    for _ in range(3):
        record(recorder)
    last = tmp_path / "0003.json"
    last.write_bytes(last.read_bytes()[:-20])
    (tmp_path / ".0004.json.new").write_bytes(b'{"version"')
    assert len(read(tmp_path)) == 2


def test_an_exchange_that_did_not_end_is_not_there(tmp_path):
    recorder = Recorder(tmp_path)
    recorder.begin("POST", "/v1/messages", {}, ASK).answered(200, {})
    assert read(tmp_path) == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "cannot be read"),
        (b'{"version": 1, "time": "x"}', "cannot be read"),
        (b"[" * 5000, "cannot be read"),
        (
            b'{"version": 1, "time": 1, "method": "POST", "target": "/", "body": 1,'
            b' "chunks": [{"at": 1, "base64": "x"}]}',
            "cannot be read",
        ),
        (b'{"version": 9}', "is of version 9 of recordings, this program reads version 1"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, content, problem):
    recorder = Recorder(tmp_path)
    record(recorder)
    record(recorder)
    (tmp_path / "0001.json").write_bytes(content)
    with pytest.raises(CassetteError, match=problem) as raised:
        read(tmp_path)
    assert "0001.json" in str(raised.value)


def test_without_a_cassette_there_is_nothing_to_read(tmp_path):
    Recorder(tmp_path / "none")
    with pytest.raises(CassetteError, match="There is no recorded model traffic in"):
        read(tmp_path / "none")


@pytest.mark.parametrize(
    ("body", "chunks"),
    [(b'"%s"' % (b"x" * 5000), ()), (ASK, (b"x" * 5000,)), (ASK, (b"\0" * 900,) * 3)],
)
def test_traffic_that_is_too_large_ends_the_recording(tmp_path, body, chunks):
    recorder = Recorder(tmp_path, limit=4000)
    record(recorder)
    record(recorder, body, chunks)
    record(recorder)
    assert recorder.stopped == "the run's model traffic is larger than a recording may be"
    assert (recorder.exchanges, len(read(tmp_path))) == (1, 1)


def test_a_compressed_answer_ends_the_recording(tmp_path):
    recorder = Recorder(tmp_path)
    taking = recorder.begin("POST", "/v1/messages", {}, ASK)
    taking.answered(200, {"content-encoding": "gzip"})
    taking.finish()
    assert recorder.stopped == "an answer was compressed, although none was to be"
    assert read(tmp_path) == ()


def test_a_folder_that_cannot_be_written_ends_the_recording(tmp_path):
    (tmp_path / "file").touch()
    recorder = Recorder(tmp_path / "file")
    record(recorder)
    assert recorder.stopped == "it could not be written: File exists"


def miss(tmp_path, body, **changed):
    recorder = Recorder(tmp_path)
    record(recorder)
    record(recorder, b'{"model": "m", "messages": [{"role": "user", "content": "good bye"}]}')
    with pytest.raises(CassetteError) as raised:
        Player(read(tmp_path)).play("POST", changed.get("target", "/v1/messages"), body)
    return str(raised.value)


def test_a_miss_shows_the_first_difference_to_the_nearest(tmp_path):
    asked = ASK.replace(b"hello", b"hello\\nworld")
    assert miss(tmp_path, asked) == (
        "The recording has no answer to request 1. messages[0].content: recorded was 'hello', asked"
        " is 'hello\\nworld'. Replay with the same task, files and settings, or record again."
    )


@pytest.mark.parametrize(
    ("body", "difference"),
    [
        (b"{}", 'messages: recorded was [{"role": "user", "content": "hello"}], asked is nothing.'),
        (ASK[:-1] + b', "n": 1}', "n: recorded was nothing, asked is 1."),
        (ASK.replace(b'"user"', b"7"), 'messages[0].role: recorded was "user", asked is 7.'),
        (ASK.replace(b"}]", b"}, 1]"), "messages[1]: recorded was nothing, asked is 1."),
        (b"\xff", "the body: recorded was {"),
    ],
)
def test_a_difference_has_its_place_and_both_values(tmp_path, body, difference):
    assert difference in miss(tmp_path, body)


def test_a_long_text_is_shown_where_it_differs(tmp_path):
    recorder = Recorder(tmp_path)
    record(recorder, json.dumps({"a": "x" * 9000 + "1" + "y" * 9000}).encode())
    asked = json.dumps({"a": "x" * 9000 + "2" + "y" * 9000}).encode()
    with pytest.raises(CassetteError) as raised:
        Player(read(tmp_path)).play("POST", "/v1/messages", asked)
    shown = str(raised.value)
    assert "x1y" in shown
    assert "x2y" in shown
    assert len(shown) < 500


def test_another_path_is_a_difference(tmp_path):
    assert "recorded was POST /v1/messages, asked is POST /v1/responses." in miss(
        tmp_path, ASK, target="/v1/responses"
    )


def test_one_request_too_many_is_told(tmp_path):
    record(Recorder(tmp_path))
    player = Player(read(tmp_path))
    player.play("POST", "/v1/messages", ASK)
    with pytest.raises(CassetteError, match="The recording ends after 1 request, and here is"):
        player.play("POST", "/v1/messages", ASK)


def test_a_token_that_is_new_in_each_run_is_no_difference(tmp_path):
    recorder = Recorder(tmp_path)
    body = b'{"messages": "TOKEN=%s"}'
    recorder.begin("POST", "/", {}, body % b"token-of-run-1", tokens=["token-of-run-1"]).finish()
    player = Player(read(tmp_path))
    player.play("POST", "/", body % b"token-of-run-2", ["token-of-run-2"])
    assert player.left == 0
