"""One exchange in HTTP/1.1 with a host of the world, parsed by h11 on both sides."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import h11

from sandbox.gateway.dial import Streams
from sandbox.gateway.http import Connection, GoneError, Headers, RefusedError

PIECE = 1 << 16
SILENT_SECONDS = 300.0
HEAD_CAP = 64 << 10
DROPPED = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110 section 7.6.1: they are about one connection; length and host are written anew."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it leaves."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an answer."""

    status: int
    headers: Headers


def passed(headers: Headers) -> list[tuple[str, str]]:
    """The headers that may go on: none that is about this connection or named so by it."""
    named = {
        token.strip().lower()
        for name, value in headers
        if name == "connection"
        for token in value.split(",")
    }
    return [(name, value) for name, value in headers if name not in DROPPED | named]


class Exchange:
    """The client's side of one request and its answer; the connection is used for no other."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_CAP)

    async def ask(self, ask: Ask) -> Head:
        """Send the request; the answer's beginning. Raises RefusedError (502)."""
        headers = [*ask.headers, ("connection", "close")]
        if ask.body:
            headers.append(("content-length", str(len(ask.body))))
        raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        try:
            target = ask.path.encode("latin-1")
            self._send(h11.Request(method=ask.method, target=target, headers=raw))
            if ask.body:
                self._send(h11.Data(data=ask.body))
            self._send(h11.EndOfMessage())
            await self._streams.writer.drain()
            while isinstance(event := await self._event(), h11.InformationalResponse):
                pass
        except (h11.LocalProtocolError, UnicodeError):  # it would quote a header: a credential
            raise RefusedError(502, "The request cannot be sent to the host as it is.") from None
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            raise RefusedError(502, f"The host gave no answer: {error or 'too late'}.") from None
        if not isinstance(event, h11.Response):
            raise RefusedError(502, "The host ended the connection without an answer.")
        return Head(event.status_code, _headers(event))

    async def pieces(self) -> AsyncIterator[bytes]:
        """The answer's body as it comes. Raises GoneError when it breaks off."""
        try:
            while isinstance(event := await self._event(), h11.Data):
                yield bytes(event.data)
        except (OSError, TimeoutError, h11.ProtocolError) as error:
            raise GoneError(f"the answer broke off: {error}") from None

    def close(self) -> None:
        """Let go of the connection."""
        self._streams.writer.close()

    def _send(self, event: h11.Event) -> None:
        self._streams.writer.write(self._h11.send(event) or b"")

    async def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while (event := self._h11.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(SILENT_SECONDS):
                self._h11.receive_data(await self._streams.reader.read(PIECE))
        return event


def _headers(event: h11.Response) -> Headers:
    found = tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers)
    chunked = any(name == "transfer-encoding" for name, _ in found)
    sizes = () if chunked else tuple(pair for pair in found if pair[0] == "content-length")
    return (*passed(found), *sizes)


async def pass_on(ask: Ask, streams: Streams, connection: Connection) -> None:
    """Carry out one exchange and give the answer to the client as it comes."""
    exchange = Exchange(streams)
    try:
        head = await exchange.ask(ask)
        await connection.begin(head.status, head.headers)
        async for piece in exchange.pieces():
            await connection.send(piece)
        await connection.end()
    finally:
        exchange.close()
