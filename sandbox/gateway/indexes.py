"""The door to private package indexes: TLS and the credential are added on the host.

Inside, http://127.0.0.1:PORT/indexes/NAME/ stands for an index's URL, and /origins/NAME/ for the
root of the same host, because indexes link to files beside them.
"""

import asyncio
import base64
import functools
import http
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from sandbox.gateway import links
from sandbox.gateway.dial import Dialer
from sandbox.gateway.forward import Ask, Exchange, Head, passed
from sandbox.gateway.hosts import Place, host
from sandbox.gateway.http import Connection, RefusedError, Request
from sandbox.gateway.index import Index
from sandbox.gateway.links import Mount, Turn
from sandbox.gateway.redact import Redactor

PAGE_CAP = 64 << 20
"""Bytes of a page with links; npm's list of a package's versions can be tens of megabytes."""
PAGES = 4
"""Pages that are held at once; others wait."""
METHODS = frozenset({"GET", "HEAD"})
OWN = frozenset({"authorization", "cookie", "accept-encoding", "forwarded"})
"""What of the client's is dropped: the credential is ours, and pages are read."""

ALTERED = frozenset({"content-length", "set-cookie", "content-location", "etag"})
SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Seen:
    """How one answer looks from inside."""

    mount: Mount
    path: str
    """Of the page, as the index knows it."""
    redactor: Redactor

    def headers(self, head: Head) -> list[tuple[str, str]]:
        """Without what does not hold for the answer any more, or was for the gateway."""
        return [
            (name, self._value(name, self.redactor.whole(value)))
            for name, value in head.headers
            if name not in ALTERED
        ]

    def _value(self, name: str, value: str) -> str:
        return self.mount.inside(value, self.path) if name == "location" else value


class Indexes:
    """Serves GET and HEAD of each index, and takes its credential out of all answers."""

    def __init__(self, indexes: Iterable[Index], dialer: Dialer) -> None:
        self._indexes = {index.name: index for index in indexes}
        self._dialer = dialer
        self._pages = asyncio.Semaphore(PAGES)

    @functools.cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made when it is wanted: all authorities are read for it, and most runs have no index."""
        return ssl.create_default_context()

    def takes(self, request: Request) -> bool:
        """Paths below /indexes/ and /origins/."""
        return request.path.startswith((links.INDEXES, links.ORIGINS))

    async def serve(self, request: Request, connection: Connection) -> None:
        """Fetch from the index, see the module."""
        kind, name, rest = links.parts(request.target)
        index = self._indexes.get(name)
        if index is None:
            raise RefusedError(
                404, f"There is no index {name[:40]!r}: the settings name it as [network.indexes]."
            )
        if request.method not in METHODS:
            raise RefusedError(405, "An index is only read here: use GET.")
        if "\\" in rest or {".", ".."} & set(unquote(rest.partition("?")[0]).split("/")):
            raise RefusedError(400, "A path must not hold `.` or `..`.")
        url = urlsplit(index.url)
        mount = Mount(name, url, request.values("host"))
        path = (mount.base if kind == links.INDEXES else "/") + rest
        await connection.watched(self._fetch(index, mount, path, request, connection))

    async def close(self) -> None:
        """Every connection ends with the request that it belongs to."""

    async def _fetch(
        self, index: Index, mount: Mount, path: str, request: Request, connection: Connection
    ) -> None:
        url = mount.url
        place = _place(url)
        if url.scheme == "http" and not self._dialer.opened(place.host):
            raise RefusedError(
                403, f"The index {index.name} is not https, and {place.host} is not opened."
            )
        streams = await self._dialer.connect(place, self._tls if url.scheme == "https" else None)
        exchange = Exchange(streams)
        try:
            seen = Seen(mount, path, Redactor(_secrets(index)))
            head = await exchange.ask(Ask(request.method, path, _headers(index, url, request)))
            kept = dict(head.headers)
            if kept.get("content-encoding", "identity") != "identity":
                raise RefusedError(502, "The index packed its answer, which nobody asked for.")
            turned = links.turning(kept.get("content-type", ""))
            if turned and request.method == "GET" and head.status == http.HTTPStatus.OK:
                async with self._pages:
                    await _page(exchange, head, seen, connection, turned)
            else:
                await _file(exchange, head, seen, connection)
        finally:
            exchange.close()


def _place(url: SplitResult) -> Place:
    return Place(host(url.hostname or ""), url.port or (443 if url.scheme == "https" else 80))


def _headers(index: Index, url: SplitResult, request: Request) -> list[tuple[str, str]]:
    # Servers take another method, path or host from x-http-method-override, x-original-url...
    kept = [
        (name, value)
        for name, value in passed(request.headers)
        if not (name in OWN or name.startswith("x-"))
    ]
    own = [("host", url.netloc), ("accept-encoding", "identity")]
    return [*own, *kept, *_credential(index)]


def _credential(index: Index) -> list[tuple[str, str]]:
    if not index.credential:
        return []
    if ":" in index.credential:
        return [("authorization", f"Basic {_basic(index.credential)}")]
    return [("authorization", f"Bearer {index.credential}")]


def _basic(credential: str) -> str:
    return base64.b64encode(credential.encode()).decode("ascii")


def _secrets(index: Index) -> tuple[str, ...]:
    """What must not come back; what is shorter would be found by chance in files."""
    _, _, password = index.credential.partition(":")
    known = (index.credential, password, _basic(index.credential))
    return tuple(text for text in known if len(text) >= SHORTEST)


async def _page(
    exchange: Exchange, head: Head, seen: Seen, connection: Connection, turned: Turn
) -> None:
    """Give a page on with its links turned."""
    page = bytearray()
    async for piece in exchange.pieces():
        page += seen.redactor.feed(piece)
        if len(page) > PAGE_CAP:
            raise RefusedError(502, f"The page is larger than {PAGE_CAP} bytes.")
    page += seen.redactor.end()
    whole = turned(bytes(page), seen.mount, seen.path)
    await connection.respond(head.status, seen.headers(head), whole)


async def _file(exchange: Exchange, head: Head, seen: Seen, connection: Connection) -> None:
    """Give a file on as it comes."""
    await connection.begin(head.status, seen.headers(head))
    async for piece in exchange.pieces():
        if clean := seen.redactor.feed(piece):
            await connection.send(clean)
    if rest := seen.redactor.end():
        await connection.send(rest)
    await connection.end()
