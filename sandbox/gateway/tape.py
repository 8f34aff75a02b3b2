"""The two upstreams beside the provider: one that records it, one that plays in its place."""

import contextlib
from collections.abc import AsyncIterator

from sandbox.gateway.cassette import CassetteError, Exchange
from sandbox.gateway.http import RefusedError
from sandbox.gateway.player import Player
from sandbox.gateway.question import Question
from sandbox.gateway.recorder import Recorder, Taking
from sandbox.gateway.upstream import Reply, Upstream, UpstreamError

_SENT, _UNSENT = "sent", "unsent"


class RecordedUpstream:
    """Asks another upstream, and takes down what passes; nothing waits for that."""

    def __init__(self, upstream: Upstream, recorder: Recorder, token: str) -> None:
        """`token` is what the sandbox holds: a model may be told it, the cassette may not."""
        self._upstream = upstream
        self._recorder = recorder
        self._token = token

    @contextlib.asynccontextmanager
    async def ask(self, question: Question) -> AsyncIterator[Reply]:
        """Ask, as `Upstream.ask` says; an answer that nobody read to its end is kept as far."""
        taking = self._recorder.begin(
            "POST",
            _target(question),
            dict(question.headers),
            question.body,
            keys=[question.route.key],
            tokens=[self._token],
        )
        try:
            async with self._upstream.ask(question) as reply:
                taking.answered(reply.status, dict(reply.headers))
                yield Reply(reply.status, reply.headers, _taken(reply.pieces, taking))
        except UpstreamError as error:
            taking.finish("cut", f"{_SENT if error.sent else _UNSENT}: {error}")
            raise
        finally:
            taking.finish("closed")

    async def close(self) -> None:
        """Let go of connections."""
        await self._upstream.close()


class ReplayedUpstream:
    """Answers from a recording, at once; it has no connection to anywhere."""

    def __init__(self, player: Player, token: str) -> None:
        """`token` is what the sandbox holds now."""
        self._player = player
        self._token = token

    @contextlib.asynccontextmanager
    async def ask(self, question: Question) -> AsyncIterator[Reply]:
        """The recorded answer; RefusedError that shows the first difference when there is none.

        Its status is 400: at others, clients would ask the same again for minutes.
        """
        try:
            exchange = self._player.play(
                "POST", _target(question), question.body, tokens=[self._token]
            )
        except CassetteError as miss:
            raise RefusedError(400, str(miss)) from None
        if not exchange.status:
            raise _broken(exchange)
        yield Reply(exchange.status, tuple(exchange.headers.items()), _played(exchange))

    async def close(self) -> None:
        """Nothing is open."""


async def _taken(pieces: AsyncIterator[bytes], taking: Taking) -> AsyncIterator[bytes]:
    async for piece in pieces:
        taking.chunk(piece)
        yield piece
    taking.finish()


async def _played(exchange: Exchange) -> AsyncIterator[bytes]:
    for chunk in exchange.chunks:
        yield chunk.content
    if exchange.end == "cut":
        raise _broken(exchange)


def _target(question: Question) -> str:
    """The path as the sandbox named it, with its query: the same for every provider's address."""
    return question.path + "".join(question.url.partition("?")[1:])


def _broken(exchange: Exchange) -> UpstreamError:
    sent, _, words = exchange.error.partition(": ")
    return UpstreamError(words, sent=sent != _UNSENT)
