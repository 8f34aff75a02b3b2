"""The door to the world: CONNECT and plain HTTP to the hosts on a list."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterable
from urllib.parse import urlsplit

from sandbox.gateway import forward
from sandbox.gateway.dial import Dialer, PrivateError, Streams
from sandbox.gateway.hosts import AllowList, Place, place
from sandbox.gateway.http import Connection, RefusedError, Request
from sandbox.gateway.refusals import NO_REMEDY, Refusals, Refused

PIECE = 1 << 16
IDLE_SECONDS = 300.0
"""How long a connection may carry nothing either way."""
TOTAL_SECONDS = 4 * 3600.0
BODY_CAP = 16 << 20
"""Bytes of a request in plain HTTP; packages are fetched, not sent."""
BODIES = 8
"""Requests with a body that are held at once; others wait."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


class Egress:
    """Lets connections to listed hosts through; the bytes of CONNECT pass unread."""

    def __init__(
        self, allowed: Iterable[str], dialer: Dialer, *, setting: str = "[network] allow"
    ) -> None:
        """`allowed` as for `AllowList.of`, ValueError likewise; `setting` names where it stands."""
        self._allowed = AllowList.of(allowed)
        self._dialer = dialer
        self._setting = setting
        self._refusals = Refusals()
        self._bodies = asyncio.Semaphore(BODIES)
        self.sent = 0
        self.received = 0
        """Bytes through CONNECT so far, out of and into the sandbox."""

    def refused(self) -> tuple[Refused, ...]:
        """Each refused host, with the setting that would allow it. Works in any thread."""
        return self._refusals.told()

    def takes(self, request: Request) -> bool:
        """What clients send to a proxy and to nobody else."""
        return request.method == "CONNECT" or "://" in request.target.partition("?")[0]

    async def serve(self, request: Request, connection: Connection) -> None:
        """Connect the client with the host it names."""
        if request.method == "CONNECT":
            await self._tunnel(request, connection)
        else:
            await self._forward(request, connection)

    async def close(self) -> None:
        """Every connection ends with the request that it belongs to."""

    async def _tunnel(self, request: Request, connection: Connection) -> None:
        if any(value.strip() != "0" for value in request.values("content-length")):
            raise RefusedError(400, "A CONNECT has no body.")
        asked = _asked(request.target, None)
        self._require_listed(asked)
        streams = await self._connect(asked)
        try:
            early = await connection.tunnel()
            await self._carry(connection, early, streams)
        finally:
            streams.writer.close()

    async def _forward(self, request: Request, connection: Connection) -> None:
        try:
            url = urlsplit(request.target)
        except ValueError as error:
            raise RefusedError(400, f"{request.target[:200]!r} is no URL: {error}.") from None
        if url.scheme.lower() != "http" or request.method not in METHODS:
            raise RefusedError(400, "Only plain http is forwarded: use CONNECT for all else.")
        asked = _asked(url.netloc, 80)
        path = request.target[request.target.index("://") + 3 + len(url.netloc) :] or "/"
        if not path.startswith("/"):
            path = f"/{path}"
        self._require_listed(asked)
        # Rewritten from the target (RFC 9112 section 3.2.2): the client's own could say otherwise.
        headers = [("host", url.netloc), *forward.passed(request.headers)]
        whole = self._bodies if request.values("content-length") else contextlib.nullcontext()
        async with whole:
            body = await connection.body(BODY_CAP)
            streams = await self._connect(asked)
            ask = forward.Ask(request.method, path, headers, body)
            await connection.watched(forward.pass_on(ask, streams, connection))

    def _require_listed(self, asked: Place) -> None:
        if not self._allowed.allows(asked):
            name = asked.host if asked.port in (80, 443) else str(asked)
            self._refusals.add(asked, f'{self._setting} = ["{name}"]')
            raise RefusedError(403, f"{asked} is not allowed: {self._setting} does not name it.")

    async def _connect(self, asked: Place) -> Streams:
        try:
            return await self._dialer.connect(asked)
        except PrivateError as error:
            remedy = f"--allow-private {asked.host}" if error.openable else NO_REMEDY
            self._refusals.add(asked, remedy)
            raise

    async def _carry(self, connection: Connection, early: bytes, streams: Streams) -> None:
        """Both ways at once, until both ends, or nothing comes for too long."""
        loop = asyncio.get_running_loop()
        streams.writer.write(early)
        self.sent += len(early)
        try:
            async with asyncio.timeout(TOTAL_SECONDS), asyncio.timeout(IDLE_SECONDS) as idle:

                async def out() -> None:
                    async for size in _copied(connection.reader, streams.writer):
                        self.sent += size
                        idle.reschedule(loop.time() + IDLE_SECONDS)

                async def back() -> None:
                    async for size in _copied(streams.reader, connection.writer):
                        self.received += size
                        idle.reschedule(loop.time() + IDLE_SECONDS)

                await _both(out(), back())
        except (OSError, TimeoutError):
            # Both sides have to see that it broke, and not a plain end.
            streams.writer.transport.abort()
            connection.writer.transport.abort()


async def _both(*ways: Coroutine[None, None, None]) -> None:
    """Until both end, or one fails; then the other is given up."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[int]:
    """Copy to the end, and pass that on; the size of each piece."""
    while data := await reader.read(PIECE):
        writer.write(data)
        await writer.drain()
        yield len(data)
    if writer.can_write_eof():
        writer.write_eof()


def _asked(text: str, default: int | None) -> Place:
    try:
        return place(text, default)
    except ValueError as error:
        raise RefusedError(400, f"{error}: say host:port.") from None
