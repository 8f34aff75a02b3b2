"""Two runs of the same task ask the same, whatever the clock, the kernel and random ids say."""

import json
import time
from datetime import date

import pytest

from sandbox.gateway.canonical import canonical, parsed

DAY, LATER = date(2026, 11, 21), date(2027, 1, 2)


def text(value, day=DAY, path="/v1/messages"):
    return canonical("POST", path, value, day).text


def printed(output):
    """All places in which a request says what a tool printed."""
    return [
        {"type": "tool_result", "content": output},
        {"type": "tool_result", "content": [{"type": "text", "text": output}]},
        {"type": "function_call_output", "output": output},
        {"type": "custom_tool_call_output", "output": output},
        {"role": "tool", "content": output},
        {"role": "user", "content": "".join(f"| {line}\n" for line in output.splitlines())},
    ]


@pytest.mark.parametrize(
    ("path", "before", "now"),
    [
        ("/v1/messages?beta=true", {"metadata": {"user_id": "a"}}, {"metadata": {"user_id": "b"}}),
        ("/v1/messages/count_tokens", {"metadata": {"user_id": 1}}, {"metadata": {"user_id": 2}}),
        ("/responses", {"prompt_cache_key": "a"}, {"prompt_cache_key": "b"}),
        ("/v1/responses", {"client_metadata": {"turn": 1}}, {"client_metadata": {"turn": 2}}),
        (
            "/v1/messages",
            {"system": "/tmp/claude/71e4bd9c-0a9c-4e44-8f5e-2f7e8f0c4d11/x cch=0af31;"},
            {"system": "/tmp/claude/81e4bd9c-0a9c-4e44-8f5e-2f7e8f0c4d12/x cch=99c4b;"},
        ),
        (
            "/v1/responses",
            {"input": [{"id": "msg_4d003cb6-7446-5a25-9dfd-9cb04599781a"}]},
            {"input": [{"id": "msg_8fe163f0-4ad1-59b6-8917-5a4ed8e0f75b"}]},
        ),
        (
            "/v1/messages",
            {"system": "\n - OS Version: Linux 6.1.0-9-amd64\n - Platform: linux"},
            {"system": "\n - OS Version: Linux 6.18.44\n - Platform: linux"},
        ),
    ],
)
def test_what_clis_make_up_anew_is_no_difference(path, before, now):
    assert text(before, path=path) == text(now, path=path)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Today's date is 2026-11-21.", "Today's date is 2027-01-02."),
        ("Sat Nov 21 10:00", "Sat Jan  2 10:00"),
        ("November 21, 2026", "January 2, 2027"),
        ("begun 2026-11-20, ended 2026-11-21", "begun 2027-01-02, ended 2027-01-03"),
    ],
)
def test_the_day_of_the_request_is_no_difference(before, now):
    assert text({"system": before}, DAY) == text({"system": now}, LATER)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("==== 5 passed in 2.57s ====", "=== 5 passed in 12.57s ==="),
        ("Ran 3 tests in 0.001s", "Ran 3 tests in 0.012s"),
        ("real 0m0.011s", "real 1m3.900s"),
        (
            "Time: 1.2 s, estimated 3 seconds, 12 ms, 7µs",
            "Time: 9 s, estimated 9 seconds, 1 ms, 8µs",
        ),
        ("[12:31:01.22] done", "[2:31:07] done"),
        ("-rw-r--r-- 1 agent 5 Jun  1 12:01 a", "-rw-r--r-- 1 agent 5 Jun 10 13:44 a"),
        ("<object object at 0x7f0a12cd>", "<object object at 0x7fee22cd>"),
        ("/tmp/tmpab_12xyz/x /tmp/tmp.aB3dEf9hIj", "/tmp/tmpzz_99xyz/x /tmp/tmp.ZZZZZZ0123"),
        ("bash: line 1:  41 Killed   x", "bash: line 1:  7 Killed   x"),
        ("server has PID 41", "server has PID 9"),
        ("Chunk ID: a1b2c3\nWall time: 0.1 seconds", "Chunk ID: ff0011\nWall time: 0.2 seconds"),
    ],
)
def test_what_a_tool_printed_may_differ_in_measured_values(before, now):
    assert text(printed(before)) == text(printed(now))
    assert text({"role": "user", "content": before}) != text({"role": "user", "content": now})


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("5 failed in 2.57s", "4 failed in 2.57s"),
        ("version 1.2.3", "version 1.2.4"),
        ("2019-01-01", "2019-01-02"),
        ("line 12: error", "line 13: error"),
        ("a", "a "),
    ],
)
def test_everything_else_is_exact(before, now):
    assert text(printed(before)) != text(printed(now))


@pytest.mark.parametrize(
    ("before", "now"), [("1", "1.0"), ("1", "true"), ("null", "{}"), ("[]", "{}"), ('"1"', "1")]
)
def test_values_of_other_types_differ(before, now):
    assert text(parsed(before.encode())) != text(parsed(now.encode()))


def test_the_order_of_names_is_no_difference():
    before, now = b'{"a": 1, "b": [1, 2]}', b'{"b":[1,2],\n"a":1}'
    assert text(parsed(before)) == text(parsed(now))
    assert text(parsed(b"[1, 2]")) != text(parsed(b"[2, 1]"))


@pytest.mark.parametrize("body", [b"[" * 900 + b"]" * 900, b"[" * 100_000, b'{"a":' * 200])
def test_a_body_that_is_nested_too_deep_is_a_text(body):
    assert parsed(body) == body.decode()
    assert json.loads(text(parsed(body)).partition("\n")[2]) == body.decode()


def test_a_line_that_tells_thousands_of_times_is_read_at_once():
    began = time.process_time()
    assert text(printed("= " + "in 1.5s " * 20_000)[0]) == text(
        printed("= " + "in 2s " * 20_000)[0]
    )
    assert time.process_time() - began < 3  # 10 s, were each of them tried with each that follows
