"""Where answers of models come from: the provider, or a recording of it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from sandbox.gateway.http import Headers
from sandbox.gateway.question import Question


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer as it may enter the sandbox: nothing secret in headers or body."""

    status: int
    headers: Headers
    """Names in lower case; none about the connection or the length."""
    pieces: AsyncIterator[bytes]
    """The body as it comes, unpacked."""


class UpstreamError(Exception):
    """No answer came, or it broke off; the message is one sentence without secrets."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent
        """Whether the question may have arrived, and so may cost money."""


class Upstream(Protocol):
    """One source of answers. A recorder wraps one; a replay stands in its place."""

    def ask(self, question: Question) -> AbstractAsyncContextManager[Reply]:
        """Ask, and read `pieces` within the block; UpstreamError from either."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
