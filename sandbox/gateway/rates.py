"""Until when a provider wants no more requests, from what it says with status 429."""

import json
import math
import re
import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"})
"""Codes of status 429 that no waiting cures."""

_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
"""OpenAI's spans: `6m0s`, `1.5s`, `120ms`."""
_ANTHROPIC = re.compile(r"anthropic-ratelimit-(.+)-reset")
_OPENAI = re.compile(r"x-ratelimit-reset-(.+)")


def until(headers: Mapping[str, str], body: bytes = b"", now: float | None = None) -> float | None:
    """Unix time at which requests may pass again; None when the provider did not say.

    `headers` with names in lower case. What is said for this very answer counts before what is
    said for each limit; of those, only the exhausted ones do.
    """
    now = time.time() if now is None else now
    return _asked(headers, now) or _in_body(body, now) or _reset(headers, now)


def unpaid(body: bytes) -> bool:
    """Whether the account has no money left, so that waiting does not help."""
    error = _error(body)
    return error.get("code") in UNPAID or error.get("type") in UNPAID


def _asked(headers: Mapping[str, str], now: float) -> float | None:
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return now + milliseconds / 1000
    after = headers.get("retry-after")
    if (seconds := _number(after)) is not None:
        return now + seconds
    return _date(after) if after else None


def _in_body(body: bytes, now: float) -> float | None:
    """ChatGPT's usage limits stand in the error document."""
    error = _error(body)
    if (at := _number(error.get("resets_at"))) is not None:
        return at
    seconds = _number(error.get("resets_in_seconds"))
    return None if seconds is None else now + seconds


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """The last end of all limits that are exhausted."""
    ends = []
    for name, value in headers.items():
        if found := _ANTHROPIC.fullmatch(name):
            left = headers.get(f"anthropic-ratelimit-{found[1]}-remaining")
            # A subscription's windows have a word in place of a number.
            state = headers.get(f"anthropic-ratelimit-{found[1]}-status", "")
            left = "some" if state.startswith("allowed") else left
            ends.append((left, _number(value) or _moment(value)))
        elif found := _OPENAI.fullmatch(name):
            ends.append((headers.get(f"x-ratelimit-remaining-{found[1]}"), _span(value, now)))
    known = [end for left, end in ends if end is not None and left in (None, "0")]
    return max(known, default=None)


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def _moment(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _span(text: str, now: float) -> float | None:
    found = _SPAN.fullmatch(text.strip())
    if not found or not text.strip():
        return None
    days, hours, minutes, seconds, thousandths = (float(part or 0) for part in found.groups())
    return now + ((days * 24 + hours) * 60 + minutes) * 60 + seconds + thousandths / 1000


def _error(body: bytes) -> dict[str, Any]:
    try:
        error = json.loads(body)["error"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return error if isinstance(error, dict) else {}
