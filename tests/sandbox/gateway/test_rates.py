import json

import pytest

from sandbox.gateway import rates

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z


@pytest.mark.parametrize(
    ("headers", "body", "until"),
    [
        ({}, {}, None),
        ({"retry-after": "20"}, {}, NOW + 20),
        ({"retry-after-ms": "1500", "retry-after": "20"}, {}, NOW + 1.5),
        ({"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT"}, {}, NOW + 60),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        (
            {
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2027-01-15T08:02:00Z",
                "anthropic-ratelimit-requests-remaining": "9",
                "anthropic-ratelimit-requests-reset": "2027-01-15T09:00:00Z",
            },
            {},
            NOW + 120,
        ),
        ({"anthropic-ratelimit-unified-reset": "1800003600"}, {}, NOW + 3600),
        (
            {
                "anthropic-ratelimit-unified-5h-status": "rejected",
                "anthropic-ratelimit-unified-5h-reset": "1800003600",
                "anthropic-ratelimit-unified-7d-status": "allowed_warning",
                "anthropic-ratelimit-unified-7d-reset": "1800500000",
            },
            {},
            NOW + 3600,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "5",
                "x-ratelimit-reset-tokens": "8h",
            },
            {},
            NOW + 360,
        ),
        ({"x-ratelimit-reset-tokens": "120ms"}, {}, NOW + 0.12),
        ({"x-ratelimit-reset-tokens": "1d2h3m4.5s"}, {}, NOW + 93784.5),
        ({}, {"error": {"type": "usage_limit_reached", "resets_at": 1800000900}}, NOW + 900),
        ({}, {"error": {"resets_in_seconds": 60}}, NOW + 60),
    ],
)
def test_the_end_of_a_limit_is_read(headers, body, until):
    assert rates.until(headers, json.dumps(body).encode(), NOW) == pytest.approx(until)


@pytest.mark.parametrize("body", [b"", b"[1]", b'{"error": "x"}', b"{", b"<html>"])
def test_a_body_that_says_nothing_is_no_error(body):
    assert (rates.until({}, body, NOW), rates.unpaid(body)) == (None, False)


def test_an_empty_account_is_told_from_a_limit():
    assert rates.unpaid(b'{"error": {"type": "x", "code": "insufficient_quota"}}')
