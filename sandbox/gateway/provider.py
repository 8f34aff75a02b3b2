"""Asking the provider itself: the key is added here, and taken out of what comes back."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from sandbox.gateway import rates
from sandbox.gateway.http import Headers
from sandbox.gateway.mask import LEAST
from sandbox.gateway.question import Question
from sandbox.gateway.redact import Redactor
from sandbox.gateway.routes import HOP_BY_HOP, Route
from sandbox.gateway.upstream import Reply, UpstreamError

TIMEOUT = httpx2.Timeout(600.0, connect=20.0, pool=None)
"""Seconds of silence. Providers say nothing for minutes while a model thinks without a stream."""
ERROR_CAP = 1 << 20
FIRST_WAIT = 2.0
"""Seconds, doubled each time, where a provider does not say when to come back."""

_DROPPED = HOP_BY_HOP | {"content-length", "content-encoding", "set-cookie", "alt-svc"}
LIMITED = 429
REFUSED = 400
"""By a provider before it has answered, and so for nothing."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The provider's limit is reached; the same question is asked again later."""

    seconds: float
    until: float | None
    """Unix time, as the provider said it."""


class Provider:
    """An Upstream over HTTP. Takes nothing from the environment but proxies and authorities."""

    def __init__(
        self,
        secrets: Sequence[str] = (),
        *,
        patience: float = 0.0,
        on_wait: Callable[[Waiting], None] = lambda waiting: None,
    ) -> None:
        """`secrets` are taken out of answers beside the route's key, if they are as long as one.

        At a rate limit a question waits up to `patience` seconds here and is asked again; with 0,
        or when the limit lasts longer, the sandbox gets the 429 at once.
        """
        self._secrets = tuple(secrets)
        self._patience = patience
        self._on_wait = on_wait
        self._client = httpx2.AsyncClient(
            timeout=TIMEOUT, limits=httpx2.Limits(max_connections=None), follow_redirects=False
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    @contextlib.asynccontextmanager
    async def ask(self, question: Question) -> AsyncIterator[Reply]:
        """Ask, waiting for the provider's limit where that is allowed."""
        known = (question.route.key, *self._secrets)
        redactor = Redactor([each for each in known if len(each) >= LEAST])
        left = self._patience
        for wait in (FIRST_WAIT * 2**number for number in range(64)):
            response = await self._accepted(question, redactor)
            try:
                if response.status_code != LIMITED:
                    yield _reply(response, redactor)
                    return
                body = await _capped(response, redactor)
            finally:
                await response.aclose()
            seconds, until = _pause(response, body, wait)
            if seconds > left or rates.unpaid(body):
                yield Reply(LIMITED, _headers(response, redactor), _once(body))
                return
            self._on_wait(Waiting(seconds, until))
            left -= seconds
            await asyncio.sleep(seconds)

    async def _accepted(self, question: Question, redactor: Redactor) -> httpx2.Response:
        """The answer to the question, or to what is sent in its place and first not refused."""
        *bodies, last = question.lowered or (question.body,)
        for body in bodies:
            response = await self._send(question, body, redactor)
            if response.status_code != REFUSED:
                return response
            await response.aclose()
        return await self._send(question, last, redactor)

    async def _send(self, question: Question, body: bytes, redactor: Redactor) -> httpx2.Response:
        named = [*question.headers, *_key(question.route), ("accept-encoding", "identity")]
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in named]
        try:
            request = self._client.build_request(
                "POST", question.url, headers=headers, content=body
            )
            return await self._client.send(request, stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _broken(question, redactor, error) from None


def _key(route: Route) -> list[tuple[str, str]]:
    if not route.key:
        return []
    if route.api == "anthropic" and not route.bearer:
        return [("x-api-key", route.key)]
    return [("authorization", f"Bearer {route.key}")]


def _reply(response: httpx2.Response, redactor: Redactor) -> Reply:
    return Reply(response.status_code, _headers(response, redactor), _pieces(response, redactor))


def _headers(response: httpx2.Response, redactor: Redactor) -> Headers:
    # As bytes they can be passed on whatever they hold; read as UTF-8 not all could.
    told = [(name.lower(), value) for name, value in response.headers.raw]
    return tuple(
        (name.decode("ascii"), redactor.whole(value.decode("latin-1")))
        for name, value in told
        if name.decode("ascii") not in _DROPPED
    )


async def _pieces(response: httpx2.Response, redactor: Redactor) -> AsyncIterator[bytes]:
    """The body as it comes. Packed bodies, which nobody asked for, are unpacked to be read."""
    try:
        async for data in response.aiter_bytes():
            if clean := redactor.feed(data):
                yield clean
    except httpx2.HTTPError as error:
        raise UpstreamError(redactor.whole(_said(error)), sent=True) from None
    if rest := redactor.end():
        yield rest


async def _capped(response: httpx2.Response, redactor: Redactor) -> bytes:
    body = b""
    async for piece in _pieces(response, redactor):
        body += piece
        if len(body) > ERROR_CAP:
            break
    return body


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _pause(response: httpx2.Response, body: bytes, unsaid: float) -> tuple[float, float | None]:
    """How long to wait, and what the provider said."""
    now = time.time()
    until = rates.until(response.headers, body, now)
    return (unsaid if until is None else max(0.0, until - now)), until


def _broken(question: Question, redactor: Redactor, error: Exception) -> UpstreamError:
    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.InvalidURL)
    said = f"{urlsplit(question.route.base_url).hostname} does not answer: {_said(error)}"
    return UpstreamError(redactor.whole(said), sent=not isinstance(error, unsent))


def _said(error: Exception) -> str:
    if isinstance(error, httpx2.LocalProtocolError):  # it quotes the header, and not as it is
        return "the request cannot be sent as it is"
    return f"{type(error).__name__} {error}".strip()
