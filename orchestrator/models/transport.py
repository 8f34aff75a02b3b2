"""Recording and replaying at the place where API clients hand over their requests."""

from collections.abc import Callable, Iterator

import httpx2

from orchestrator.models.access import Access
from orchestrator.models.failure import UnrecordedError
from sandbox.gateway.cassette import CassetteError, Exchange
from sandbox.gateway.player import Player
from sandbox.gateway.recorder import Recorder, Taking


class RecordingTransport(httpx2.BaseTransport):
    """Sends requests by a client of its own, and takes down what passes."""

    def __init__(
        self, client: httpx2.Client, access: Access, recorder: Callable[[], Recorder | None]
    ) -> None:
        self._client = client
        self._access = access
        self._recorder = recorder

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        recorder = self._recorder()
        if recorder is None or recorder.stopped:
            return self._send(request)
        # A compressed answer could neither be read by people nor searched for the key.
        request.headers["accept-encoding"] = "identity"
        taking = self._begin(recorder, request)
        try:
            response = self._send(request)
        except httpx2.TransportError as problem:
            taking.finish("cut", _told(problem))
            raise
        taking.answered(response.status_code, response.headers)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Recorded(response.stream, taking)
        return response

    def close(self) -> None:
        self._client.close()

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        return self._client.send(request, stream=True, follow_redirects=False)

    def _begin(self, recorder: Recorder, request: httpx2.Request) -> Taking:
        keys = (self._access.key, request.url.password)
        target = _target(request, self._access)
        return recorder.begin(request.method, target, request.headers, request.read(), keys)


class ReplayingTransport(httpx2.BaseTransport):
    """Answers requests from a recording, at once."""

    def __init__(self, player: Player, access: Access) -> None:
        self._player = player
        self._access = access

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises UnrecordedError when no recorded request is like this one."""
        target = _target(request, self._access)
        try:
            exchange = self._player.play(request.method, target, request.read())
        except CassetteError as miss:
            raise UnrecordedError(str(miss), request=request) from None
        if not exchange.status:
            raise _problem(exchange, request)
        stream = _Replayed(exchange, request)
        return httpx2.Response(exchange.status, headers=exchange.headers, stream=stream)


class _Recorded(httpx2.SyncByteStream):
    """A body that is passed on piece by piece, each as soon as it is here."""

    def __init__(self, stream: httpx2.SyncByteStream, taking: Taking) -> None:
        self._stream = stream
        self._taking = taking

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                self._taking.chunk(chunk)
                yield chunk
        except httpx2.TransportError as problem:
            self._taking.finish("cut", _told(problem))
            raise
        self._taking.finish()

    def close(self) -> None:
        self._taking.finish("closed")
        self._stream.close()


class _Replayed(httpx2.SyncByteStream):
    def __init__(self, exchange: Exchange, request: httpx2.Request) -> None:
        self._exchange = exchange
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._exchange.chunks:
            yield chunk.content
        if self._exchange.end == "cut":
            raise _problem(self._exchange, self._request)


def _target(request: httpx2.Request, access: Access) -> str:
    """The path below the base URL, which may be another one when it is played, with its query."""
    target = request.url.raw_path.decode("ascii")
    base = httpx2.URL(access.base_url).raw_path.decode("ascii").rstrip("/")
    return target.removeprefix(base) if target.startswith(f"{base}/") else target


def _told(problem: httpx2.TransportError) -> str:
    return f"{type(problem).__name__}: {problem}"


def _problem(exchange: Exchange, request: httpx2.Request) -> httpx2.TransportError:
    """What broke it off when it was recorded, of the same kind where httpx2 still knows it."""
    name, _, words = exchange.error.partition(": ")
    kind = getattr(httpx2, name, None)
    if not (isinstance(kind, type) and issubclass(kind, httpx2.TransportError)):
        kind = httpx2.ReadError
    return kind(words, request=request)
