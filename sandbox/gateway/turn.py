"""One answer on its way into the sandbox: counted as it streams, cut when a budget is passed."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.gateway import rates
from sandbox.gateway.budget import Spent
from sandbox.gateway.dialect import KINDS, Dialect
from sandbox.gateway.http import Connection, GoneError, Headers, RefusedError
from sandbox.gateway.meter import Meter
from sandbox.gateway.question import Question
from sandbox.gateway.room import Rooms
from sandbox.gateway.upstream import Reply
from sandbox.gateway.usage import NOTHING, Usage

NO_RETRY = ("x-should-retry", "false")
"""Read by the providers' own clients: it would be refused, or limited, again."""
LIMITED = 429


@dataclass(frozen=True, slots=True)
class Answered:
    """One request to a model that is over."""

    model: str
    """`provider:model`."""
    path: str
    status: int
    """Of the provider's answer; 0 when none came."""
    usage: Usage
    estimated: bool
    """Whether `usage` is our estimate: the provider gave no whole count."""
    cost: float | None
    """US dollars; None when the price is unknown."""
    seconds: float
    cut: str
    """Why the answer was ended before its end, in a sentence; else empty."""
    sent: bool = True
    """Whether the question may have arrived; else there was no connection."""


class Turn:
    """One answer, from the question to its final count."""

    def __init__(
        self,
        asked: Question,
        dialect: Dialect,
        connection: Connection,
        rooms: Rooms,
        on_answer: Callable[[Answered], None],
    ) -> None:
        self._asked = asked
        self._dialect = dialect
        self._connection = connection
        self._rooms = rooms
        self._ledger = ledger = rooms.ledger
        self._on_answer = on_answer
        self._entry = ledger.enter(asked.route.priced(asked.model), asked.held)
        self._meter = Meter(dialect, asked.body, "")
        ledger.count(self._entry, self._meter.usage)
        self._begun = time.monotonic()
        self._status = 0
        self._cut = ""
        self._over = False
        self.sent = False
        """Whether the question may have arrived, and so may cost money."""

    @property
    def _good(self) -> bool:
        """Whether what comes is an answer, which costs tokens, and no error or redirection."""
        return 200 <= self._status < 300

    async def relay(self, reply: Reply) -> None:
        """Pass the answer on as it comes.

        Raises GoneError when a budget was passed: the error event is sent, nothing may follow.
        """
        self._status = reply.status
        if reply.status == LIMITED:
            return await self._limited(reply)
        if self._good:
            self._ledger.limit(False)
        kind = dict(reply.headers).get("content-type", "")
        self._meter = Meter(self._dialect, self._asked.body, kind)
        await self._connection.begin(reply.status, reply.headers)
        async for data in reply.pieces:
            if whole := await self._counted(data):
                await self._connection.send(whole)
            if self._cut:
                self.fail(RefusedError(400, self._cut))
                raise GoneError(self._cut)
        self._meter.end()
        if self._meter.limited:
            self._ledger.limit(True)
        self.finish()
        return await self._connection.end()

    def fail(self, refused: RefusedError) -> None:
        """End the answer by name: as an error document, or as the last event of its stream.

        Where neither may stand, because a piece of something else went before, it is cut off.
        """
        self._cut = str(refused)
        self.finish()
        if not self._connection.begun:
            self._connection.last_answer(*refusal(self._dialect, refused))
        elif self._connection.within and self._meter.between:
            frame = self._dialect.problem_frame(KINDS[refused.status], str(refused))
            self._connection.last(frame)

    def finish(self) -> None:
        """Make the count final, once, whatever comes first; the client sees the end after it."""
        if self._over:
            return
        self._over = True
        free = not self.sent or (self._status and not self._good)
        usage = NOTHING if free else self._meter.usage
        estimated = not (free or self._meter.exact)
        cost = self._ledger.leave(self._entry, usage, estimated=estimated)
        seconds = time.monotonic() - self._begun
        self._rooms.ended()
        path, model = self._asked.path, self._entry.model
        self._on_answer(
            Answered(
                model, path, self._status, usage, estimated, cost, seconds, self._cut, self.sent
            )
        )

    async def _counted(self, data: bytes) -> bytes:
        """The part of `data` that may go on: up to the event with which a budget is passed."""
        if not self._good:
            return data
        sent = 0
        for piece in self._meter.cut(data):
            sent += len(piece)
            self._ledger.count(self._entry, self._meter.usage)
            if self._meter.between and (spent := await self._passed()):
                self._cut = str(spent)
                break
        return data[:sent]

    async def _passed(self) -> Spent | None:
        """Which budget is passed; who holds a part of it waits for nobody else's."""
        return self._ledger.spent(before=False) if self._asked.held else await self._rooms.passed()

    async def _limited(self, reply: Reply) -> None:
        body = b"".join([piece async for piece in reply.pieces])
        # No waiting cures an account without money: that is an error, and no limit.
        self._ledger.limit(not rates.unpaid(body), rates.until(dict(reply.headers), body))
        self.finish()
        headers = [pair for pair in reply.headers if pair[0] != NO_RETRY[0]]
        await self._connection.respond(LIMITED, [*headers, NO_RETRY], body)


def refusal(dialect: Dialect, refused: RefusedError) -> tuple[int, Headers, bytes]:
    """Status, headers and body of a refusal, in the words of the provider's own errors."""
    document = dialect.problem(KINDS[refused.status], str(refused))
    headers = (("content-type", "application/json"), ("connection", "close"), NO_RETRY)
    return refused.status, headers, json.dumps(document).encode()
