"""Where answers of models come from: the provider, or a recording of it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from sandbox.gateway.http import Headers
from sandbox.gateway.routes import Route


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a model as it leaves: checked, stripped of what is the sandbox's, no key."""

    route: Route
    method: str
    path: str
    """As the sandbox named it, e.g. `/v1/messages`."""
    query: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer as it may enter the sandbox: nothing secret in headers or body."""

    status: int
    headers: Headers
    pieces: AsyncIterator[bytes]
    """The body as it comes, unpacked."""


class UpstreamError(Exception):
    """No answer came, or it broke off; the message is one sentence without secrets."""


class Upstream(Protocol):
    """One source of answers. A recorder wraps one; a replay stands in its place."""

    def ask(self, question: Question) -> AbstractAsyncContextManager[Reply]:
        """Ask, and read `pieces` within the block; UpstreamError from either."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
