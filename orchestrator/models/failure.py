"""What a provider says in place of an answer, as one of our errors."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

import httpx2

from orchestrator.errors import ModelAuthError, ModelError, ModelRefusedError, RateLimitedError
from orchestrator.foreign import well_formed
from orchestrator.models.access import Access, address_variable

RETRYABLE = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""

_STATUS_OF_CODE = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Errors inside a stream come after status 200; their code says which status they stand for."""

_UNPAID = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of status 429 that no waiting cures."""


class UnrecordedError(httpx2.TransportError):
    """A replay has no answer to a request; of a family that the SDKs pass on as a cause."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What the provider said."""

    status: int
    code: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def in_stream(code: str, message: str) -> Failure:
    """What an error event inside a stream stands for; an unknown one is the server's fault."""
    return Failure(_STATUS_OF_CODE.get(code, 500), code, message)


def refusal(access: Access, failure: Failure) -> ModelError:
    """The error for what the provider said, without the key in its text."""
    said = _said(access, failure)
    match failure.status:
        case 401:
            return ModelAuthError(f"{said}; set {access.variable} to a valid key")
        case 403:
            return ModelAuthError(
                f"{said}; set {access.variable} to a key that may use {access.name}"
            )
        case 429 if failure.code in _UNPAID:
            return ModelRefusedError(f"{said}; see to the account's billing")
        case 429:
            return RateLimitedError(said, until=_until(failure.headers))
        case 408 | 409:
            return ModelError(said, retryable=failure.status in RETRYABLE)
        case status if 400 <= status < 500:
            return ModelRefusedError(said)
    retryable = failure.status in RETRYABLE
    return ModelError(said, retryable=retryable, until=_until(failure.headers))


def broken(access: Access, how: str) -> ModelError:
    """The error for a connection that failed or a stream that ended before its end."""
    return ModelError(
        hide(access, f"The connection to {access.name} failed: {how}"), retryable=True
    )


def unanswered(access: Access, problem: BaseException) -> ModelError:
    """The error for a request that found no server, or whose connection broke."""
    if isinstance(problem, UnrecordedError):
        return ModelError(str(problem))
    if not isinstance(problem, httpx2.ConnectError | httpx2.ConnectTimeout):
        return broken(access, str(problem))
    return ModelError(unconnected(access, str(problem) or "no answer"), retryable=True)


def unconnected(access: Access, why: str) -> str:
    """That there was no connection, and what may help."""
    ours = access.address.startswith("http://")
    said = (
        f"No connection to {access.name} at {access.address}: {why};"
        f" {'is it running?' if ours else 'is there a network?'}"
        f" {address_variable(access.provider)} changes the address"
    )
    return hide(access, said)


@contextmanager
def as_documented(access: Access) -> Iterator[None]:
    """Raise a ModelError when an event lacks what the API promises.

    The SDKs check nothing of what they parse: a wrong shape shows where it is used.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError) as problem:
        raise broken(access, f"an event is not as documented: {problem}") from None


def cut(access: Access, content_type: str) -> ModelError:
    """The error for a stream without its last event, or for a body that is no stream at all."""
    if content_type.startswith("text/event-stream"):
        return broken(access, "the answer was cut off before its end")
    return ModelError(
        f"{access.address} answered with {content_type or 'an untyped body'} where a stream of"
        f" events belongs; check the base URL of {access.provider}"
    )


def hide(access: Access, text: str) -> str:
    """`text` fit for records, and without the key: proxies and providers quote it in messages."""
    text = well_formed(text)
    return text.replace(access.key, "[key]") if access.key else text


def _said(access: Access, failure: Failure) -> str:
    code = f" ({failure.code})" if failure.code else ""
    message = " ".join(failure.message.split())[:500].rstrip(".;")
    return hide(access, f"{access.name} answered {failure.status}{code}: {message}")


def _until(headers: Mapping[str, str]) -> float | None:
    """Unix time from `retry-after-ms` or `retry-after`, which is seconds or an HTTP date."""
    now = time.time()
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = float(headers["retry-after"])
    except KeyError:
        return None
    except ValueError:
        return _date(headers["retry-after"]) if "retry-after" in headers else None
    return now + seconds if math.isfinite(seconds) else None


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def words(body: object, *path: str) -> str:
    """The text at `path` of an error's parsed body, or nothing: providers differ in its shape."""
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body if isinstance(body, str) else ""
