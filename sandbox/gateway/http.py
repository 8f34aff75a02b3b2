"""One connection from the sandbox, spoken by h11: requests in, answers out as they come.

What the sandbox sends is hostile: `Transfer-Encoding` is refused (RFC 9112 section 6.1 names it
the usual means of request smuggling), heads and bodies are capped, and whatever was not understood
ends the connection.
"""

import asyncio
import contextlib
import http
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass

import h11

HEAD_CAP = 64 << 10
"""Bytes of a request line with all headers."""
READ = 64 << 10
IDLE_SECONDS = 300.0
"""How long a connection may say nothing before or within a head, or within a body."""
LINGER_SECONDS = 2.0
LINGER_CAP = 64 << 20

Headers = tuple[tuple[str, str], ...]


class RefusedError(Exception):
    """A request is not let out; the message is one sentence for the client."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})


class GoneError(Exception):
    """The client went away, or broke the protocol beyond an answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """The head of one request."""

    method: str
    target: str
    """As it stood in the request line: a path with its query, an absolute URL, or host:port."""
    headers: Headers
    """Names in lower case, in the order they came."""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a header."""
        return tuple(value for known, value in self.headers if known == name)


class Connection:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        """With `writer`, for whoever called `tunnel`."""
        self.writer = writer
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_CAP)
        self._announced = 0
        self._ended = False

    @property
    def begun(self) -> bool:
        """Whether the answer to the current request has begun."""
        return self._h11.our_state not in (h11.IDLE, h11.SEND_RESPONSE)

    @property
    def within(self) -> bool:
        """Whether the answer has begun and not ended."""
        return self._h11.our_state is h11.SEND_BODY

    async def next(self) -> Request | None:
        """The next request; None when there is none any more.

        Raises RefusedError for what is no request or has a `Transfer-Encoding`.
        """
        if self._h11.our_state is h11.DONE and self._h11.their_state is h11.DONE:
            self._h11.start_next_cycle()
        elif self._h11.our_state is not h11.IDLE:
            return None
        event = await self._event()
        if not isinstance(event, h11.Request):
            return None
        request = _request(event)
        if request.values("transfer-encoding"):
            raise RefusedError(411, "Transfer-Encoding is refused; send a Content-Length.")
        self._announced = sum(map(int, request.values("content-length")))
        return request

    async def body(self, cap: int) -> bytes:
        """The whole body of the current request; RefusedError (413) when larger than `cap`."""
        if self._announced > cap:
            raise RefusedError(413, f"The body is larger than {cap} bytes.")
        if self._h11.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        kept = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            kept += event.data
        if not isinstance(event, h11.EndOfMessage):
            raise GoneError("the client went away within its body")
        return bytes(kept)

    async def respond(
        self, status: int, headers: Iterable[tuple[str, str]] = (), body: bytes = b""
    ) -> None:
        """A whole answer at once."""
        await self._send(*_whole(status, headers, body))

    async def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The head of an answer; without a content-length its body goes out in chunks."""
        await self._send(_head(status, headers))

    async def send(self, data: bytes) -> None:
        """A piece of an answer's body, out at once; waits while the client does not read."""
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        """The end of an answer."""
        await self._send(h11.EndOfMessage())

    def last_answer(
        self, status: int, headers: Iterable[tuple[str, str]] = (), body: bytes = b""
    ) -> None:
        """As `respond`, without waiting: for a task that is about to end."""
        self._put(*_whole(status, headers, body))

    def last(self, data: bytes) -> None:
        """A last piece and the end of an answer, without waiting."""
        self._put(h11.Data(data=data), h11.EndOfMessage())

    async def watched(self, work: Coroutine[None, None, None]) -> None:
        """Carry out `work`, and cancel it when the client closes its side: nobody waits any more.

        What comes meanwhile, a next request, is kept up to a cap, and then not read.
        """
        watcher = asyncio.ensure_future(self._left())
        worker = asyncio.ensure_future(work)
        try:
            await asyncio.wait((watcher, worker), return_when=asyncio.FIRST_COMPLETED)
            if not worker.done():
                raise GoneError("the client went away before the answer was whole")
        finally:
            watcher.cancel()
            worker.cancel()
            await asyncio.wait((watcher, worker))
        worker.result()

    async def tunnel(self) -> bytes:
        """Accept a CONNECT; from now on `reader` and `writer` are raw.

        Gives the bytes that came behind the request already.
        """
        await self._send(h11.Response(status_code=200, headers=[], reason="OK"))
        early, _ = self._h11.trailing_data
        return early

    async def _left(self) -> None:
        """Return when the client closes its side."""
        kept = 0
        while kept < HEAD_CAP:
            data = await self._read()
            self._h11.receive_data(data)
            if not data:
                return
            kept += len(data)
        await asyncio.Event().wait()

    async def close(self) -> None:
        """End the connection so that the client reads the last answer before it sees the end.

        A socket closed with unread data resets, and a reset destroys what is on its way.
        """
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                if self.writer.can_write_eof():
                    self.writer.write_eof()
                left = LINGER_CAP
                while left > 0 and not self._ended and (data := await self.reader.read(READ)):
                    left -= len(data)
        self.writer.close()

    async def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                raise RefusedError(error.error_status_hint, f"No HTTP request: {error}.") from None
            if event is not h11.NEED_DATA:
                return event
            async with asyncio.timeout(IDLE_SECONDS):
                self._h11.receive_data(await self._read())

    async def _read(self) -> bytes:
        try:
            data = await self.reader.read(READ)
        except OSError as error:
            raise GoneError(str(error)) from None
        self._ended = self._ended or not data
        return data

    async def _send(self, *events: h11.Event) -> None:
        self._put(*events)
        try:
            await self.writer.drain()
        except OSError as error:
            raise GoneError(str(error)) from None

    def _put(self, *events: h11.Event) -> None:
        self.writer.write(b"".join(self._h11.send(event) or b"" for event in events))


_KNOWN = frozenset(status.value for status in http.HTTPStatus)


def _whole(
    status: int, headers: Iterable[tuple[str, str]], body: bytes
) -> tuple[h11.Response, h11.Data, h11.EndOfMessage]:
    known = ((name, value) for name, value in headers if name != "content-length")
    head = _head(status, [*known, ("content-length", str(len(body)))])
    return head, h11.Data(data=body), h11.EndOfMessage()


def _head(status: int, headers: Iterable[tuple[str, str]]) -> h11.Response:
    reason = http.HTTPStatus(status).phrase if status in _KNOWN else ""
    raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
    return h11.Response(status_code=status, headers=raw, reason=reason)


def _request(event: h11.Request) -> Request:
    return Request(
        event.method.decode("ascii"),
        event.target.decode("latin-1"),
        tuple((name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers),
    )
