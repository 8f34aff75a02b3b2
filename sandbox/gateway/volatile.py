"""What differs between two runs of the same task and means nothing: one table, a reason each.

Recording and request are compared with these parts replaced by a word; all else is exact. The
tables are short on purpose: what they let pass, a replay answers as if nothing had changed.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

FIELDS: dict[str, dict[tuple[str, ...], str]] = {
    "/messages": {
        # Claude Code: the device, the account and the session, as one text.
        ("metadata", "user_id"): "<user>",
    },
    "/messages/count_tokens": {
        ("metadata", "user_id"): "<user>",
    },
    "/responses": {
        # Codex: the id of its conversation, new in every run.
        ("prompt_cache_key",): "<conversation>",
        # Codex: ids of the installation, the session and the turn.
        ("client_metadata",): "<client>",
    },
}
"""By the end of a path: where in the body something volatile is, whatever it is."""

ANYWHERE = (
    # CLIs name sessions, scratch folders and messages by random ids.
    (re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.I), "<uuid>"),
    # Claude Code tells a model the host's kernel.
    (re.compile(r"(?m)(?<=^ - OS Version: ).+$"), "<kernel>"),
    # Claude Code: its first system text holds a fingerprint of the request.
    (re.compile(r"\bcch=[0-9a-f]+"), "cch=<fingerprint>"),
)
"""In every text of a body."""

PRINTED = (
    # ls -l, and logs without seconds: when a file was written.
    (re.compile(r"\b[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}\b(?!:)"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b"), "<time>"),
    # Every test runner tells how long it took; pytest fills the rest of that line.
    (re.compile(r"\b(?:\d+m ?)?\d+(?:\.\d+)?(?= ?(?:ns|[uµm]?s|secs?|seconds?)\b)"), "<n>"),
    # Its time must grow with the line alone, which may tell thousands of times.
    (re.compile(r"(?m)^=++(?=.*\bin <n>s)( .* )=+$"), r"=\1="),
    # The default repr() of Python's objects; other debuggers.
    (re.compile(r"\b0x[0-9a-f]{6,16}\b", re.I), "<address>"),
    # Python's tempfile, and mktemp.
    (re.compile(r"/tmp/tmp(?:[a-z0-9_]{8}\b|\.[A-Za-z0-9]{6,})"), "/tmp/<random>"),
    # A shell that tells which process died, and programs that name their own number.
    (re.compile(r"(?<=: line )(\d+): +\d+ (?=[A-Z])"), r"\1: <pid> "),
    (re.compile(r"\b(pid[ =:]+)\d+", re.I), r"\1<pid>"),
    # Codex: heads the output of each command with a random id.
    (re.compile(r"(?m)^Chunk ID: \w+$"), "Chunk ID: <random>"),
)
"""Only in what tools printed: a person's task has its numbers for a reason."""

_RESULT = re.compile(r"\w+_(?:result|output)")
"""Types of content that hold what a tool printed, in all three APIs but Chat Completions."""

_QUOTED = re.compile(r"(?m)(?<=^\| ).*$")
"""So the agent quotes what a failed check printed."""


def steady(path: str, body: Any, day: date) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The body of a request to `path`, as JSON values, with all that is volatile replaced.

    `day` is when the request was made: CLIs tell a model the date.
    """
    for end, places in FIELDS.items():
        for place, word in places.items() if path.endswith(end) else ():
            body = _put(body, place, word)
    return _steady(body, day, printed=False)


def _put(value: Any, place: tuple[str, ...], word: str) -> Any:  # noqa: ANN401
    if not isinstance(value, dict) or place[0] not in value:
        return value
    inner = _put(value[place[0]], place[1:], word) if place[1:] else word
    return {**value, place[0]: inner}


def _steady(value: Any, day: date, *, printed: bool) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return _text(value, day, printed=printed)
    if isinstance(value, list):
        return [_steady(item, day, printed=printed) for item in value]
    if isinstance(value, dict):
        printed = printed or _is_printed(value)
        return {name: _steady(item, day, printed=printed) for name, item in value.items()}
    return value


def _is_printed(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return value.get("role") == "tool" or (isinstance(kind, str) and bool(_RESULT.fullmatch(kind)))


@lru_cache(maxsize=4096)  # each request repeats all that was said before it
def _text(text: str, day: date, *, printed: bool) -> str:
    text = _days(day).sub("<today>", text)
    for pattern, word in ANYWHERE:
        text = pattern.sub(word, text)
    if printed:
        return _printed(text)
    return _QUOTED.sub(lambda line: _printed(line[0]), text)


def _printed(text: str) -> str:
    for pattern, word in PRINTED:
        text = pattern.sub(word, text)
    return text


@lru_cache(maxsize=8)
def _days(day: date) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _dates(day))))


def _dates(day: date) -> Iterator[str]:
    """The day and its neighbours, for clocks of other zones and runs past midnight."""
    for near in (day, day - timedelta(days=1), day + timedelta(days=1)):
        yield near.isoformat()
        yield f"{near:%a %b} {near.day:2}"
        yield f"{near:%a %b} {near.day:02}"
        yield f"{near:%B} {near.day}, {near.year}"
