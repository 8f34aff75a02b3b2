"""The door to models: who may ask what, and what it may cost."""

import asyncio
import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sandbox.gateway import ceiling, question
from sandbox.gateway.asked import Asked
from sandbox.gateway.budget import Ledger, Used
from sandbox.gateway.dialect import Dialect
from sandbox.gateway.http import Connection, GoneError, RefusedError, Request
from sandbox.gateway.meter import Meter
from sandbox.gateway.question import Question
from sandbox.gateway.room import Rooms, SpentError
from sandbox.gateway.routes import ALIVE, ENDPOINTS, Endpoint, Route, choose, passed_on, query
from sandbox.gateway.token import require_token
from sandbox.gateway.turn import Answered, Turn, refusal
from sandbox.gateway.upstream import Upstream, UpstreamError

BODY_CAP = 32 << 20
"""Bytes; Anthropic takes no larger request."""
BODY_SECONDS = 120.0
AT_ONCE = 16
"""Requests that are held and answered at the same time; others wait."""


class Models:
    """Lets requests to models out by exact method and path, to fixed providers.

    Whatever is refused is refused in the words of the provider's own errors. A spent budget is
    status 400, not 429: at 400 both Claude Code and Codex stop at once, at 429 they ask on for
    minutes (measured).
    """

    def __init__(
        self,
        routes: Sequence[Route],
        token: str,
        upstream: Upstream,
        ledger: Ledger,
        on_answer: Callable[[Answered], None] = lambda answered: None,
        on_question: Callable[[Asked], None] = Asked.let_in,
    ) -> None:
        """`token` is what the sandbox holds in place of a key.

        Of several routes that take a request the first one serves it. `on_answer` is called in the
        gateway's thread, and so is `on_question`: for each question that leaves, whose answer
        begins once it is let in.
        """
        if not token:
            raise ValueError("a gateway without a token would serve anybody")
        self._routes = tuple(routes)
        self._token = token.encode()
        self._upstream = upstream
        self._ledger = ledger
        self._rooms = Rooms(ledger)
        self._on_answer = on_answer
        self._on_question = on_question
        self._places = asyncio.Semaphore(AT_ONCE)

    def used(self) -> Used:
        """What was used so far. Works in any thread."""
        return self._ledger.used()

    def takes(self, request: Request) -> bool:
        """The paths of the providers' APIs, and the question whether anyone is there."""
        asked = (request.method, request.path)
        return asked in ENDPOINTS or asked == ALIVE

    async def serve(self, request: Request, connection: Connection) -> None:
        """Ask the provider and pass its answer on."""
        endpoint = ENDPOINTS.get((request.method, request.path))
        if endpoint is None:
            return await connection.respond(200)
        try:
            async with self._places:
                asked = await self._admitted(request, endpoint, connection)
                work = self._paid if endpoint.paid else self._free
                await connection.watched(work(asked, endpoint, connection))
        except RefusedError as refused:
            await connection.respond(*refusal(endpoint.dialect, refused))

    async def close(self) -> None:
        """Let go of connections to providers."""
        await self._upstream.close()

    async def _admitted(
        self, request: Request, endpoint: Endpoint, connection: Connection
    ) -> Question:
        """The question as it may leave; RefusedError, counted, when it may not."""
        with self._counted():
            require_token(request, self._token)
            return await self._question(request, endpoint, connection)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count what is refused here."""
        try:
            yield
        except RefusedError as refused:
            self._ledger.refuse(refused.spent if isinstance(refused, SpentError) else None)
            raise

    async def _question(
        self, request: Request, endpoint: Endpoint, connection: Connection
    ) -> Question:
        if request.values("content-encoding"):
            raise RefusedError(415, "A packed body is refused: send it as it is.")
        async with asyncio.timeout(BODY_SECONDS):
            raw = await connection.body(BODY_CAP)
        body = question.parse(raw)
        model = question.model(body)
        route = choose(self._routes, endpoint, model)
        if spent := self._ledger.spent(before=True):
            raise SpentError(spent)
        try:
            kept = question.withhold(body, endpoint.dialect, route)
            sent = raw if kept is body else json.dumps(kept).encode()
        except RecursionError:
            raise RefusedError(400, "The body is nested too deeply.") from None
        url = route.base_url.rstrip("/") + endpoint.suffix + query(request)
        most = ceiling.wanted(kept, endpoint.dialect) if ceiling.whole(kept) else 0
        results = endpoint.dialect.results(kept)
        return Question(route, request.path, url, passed_on(request), sent, model, results, most)

    async def _paid(self, asked: Question, endpoint: Endpoint, connection: Connection) -> None:
        # Counted without a pause after the budget was looked at: nobody else passes in between.
        with self._counted():
            asked = await self._bound(asked, endpoint.dialect)
        turn = Turn(asked, endpoint.dialect, connection, self._rooms, self._on_answer)
        try:
            await self._answer(asked, turn)
        finally:
            turn.finish()

    async def _bound(self, asked: Question, dialect: Dialect) -> Question:
        """The question with no larger answer than the budgets allow.

        Waits for what others hold; SpentError when nothing is left.
        """
        used = Meter(dialect, asked.body, "").usage
        room = await self._rooms.find(asked.route.priced(asked.model), used, asked.most)
        if not asked.most or room.tokens == math.inf:
            return asked
        if asked.most <= room.tokens:
            return replace(asked, held=asked.most)
        tokens = int(room.tokens)
        bodies = ceiling.lowered(question.parse(asked.body), dialect, asked.route, tokens)
        if not (lowered := tuple(json.dumps(body).encode() for body in bodies)):
            raise SpentError(room.spent)
        return replace(asked, lowered=lowered, held=tokens)

    async def _free(self, asked: Question, endpoint: Endpoint, connection: Connection) -> None:
        """What costs no tokens is passed on and not counted."""
        try:
            async with self._upstream.ask(asked) as reply:
                body = b"".join([piece async for piece in reply.pieces])
        except UpstreamError as error:
            raise RefusedError(502, str(error)) from None
        await connection.respond(reply.status, reply.headers, body)

    async def _answer(self, asked: Question, turn: Turn) -> None:
        turn.sent = True
        told = Asked(asked.results)
        self._on_question(told)
        try:
            async with asyncio.timeout(self._ledger.left()), self._upstream.ask(asked) as reply:
                await told.allowed()
                await turn.relay(reply)
        except UpstreamError as error:
            turn.sent = error.sent
            turn.fail(RefusedError(502, str(error)))
            raise GoneError(str(error)) from None
        except TimeoutError:
            spent = str(self._ledger.spent(before=True) or "The run's budget of time is used up.")
            turn.fail(RefusedError(400, spent))
            raise GoneError(spent) from None
        except asyncio.CancelledError:
            turn.fail(RefusedError(502, "The gateway was closed, or nobody waits any more."))
            raise
        finally:
            told.end()
