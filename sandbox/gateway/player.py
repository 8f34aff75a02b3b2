"""Looking up the answer to a request among recorded ones."""

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from threading import Lock

from msgspec.structs import replace

from sandbox.gateway import mask
from sandbox.gateway.canonical import Canonical, canonical, common, difference, parsed
from sandbox.gateway.cassette import CassetteError, Exchange


class Player:
    """Plays each exchange once: of equal requests, the n-th gets the n-th answer.

    May be asked from several threads.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._left: dict[str, deque[tuple[Canonical, Exchange]]] = defaultdict(deque)
        self._count = len(exchanges)
        self._played = 0
        self._lock = Lock()
        for exchange in exchanges:
            request = canonical(
                exchange.method, exchange.target, exchange.body, _day(exchange.time)
            )
            self._left[request.text].append((request, exchange))

    @property
    def left(self) -> int:
        """How many recorded exchanges were not asked for."""
        return self._count - self._played

    def play(self, method: str, target: str, body: bytes, tokens: Iterable[str] = ()) -> Exchange:
        """The answer to a request; `tokens` stand for those that the recorder was told.

        Raises CassetteError that shows the first difference.
        """
        secret = mask.spellings(tokens)
        asked = parsed(mask.masked(body, secret))
        request = canonical(method, mask.masked_url(target, secret), asked, _day(time.time()))
        with self._lock:
            waiting = self._left.get(request.text)
            if not waiting:
                raise CassetteError(self._miss(request))
            self._played += 1
            return _timely(waiting.popleft()[1])

    def _miss(self, request: Canonical) -> str:
        """Why there is no answer; the nearest recording is the one that is equal the longest."""
        number = self._played + 1
        waiting = [queue[0][0] for queue in self._left.values() if queue]
        if not waiting:
            requests = "1 request" if self._count == 1 else f"{self._count} requests"
            return (
                f"The recording ends after {requests}, and here is one more"
                f" ({request.line}): the run went another way; record it again."
            )
        nearest = max(waiting, key=lambda each: common(each.text, request.text))
        return (
            f"The recording has no answer to request {number}. {difference(nearest, request)}."
            " Replay with the same task, files and settings, or record again."
        )


def _timely(exchange: Exchange) -> Exchange:
    """The exchange with its `Retry-After` in seconds: a date in it has passed since."""
    try:
        later = parsedate_to_datetime(exchange.headers.get("retry-after", "")).timestamp()
    except ValueError:
        return exchange
    seconds = max(0, round(later - exchange.time))
    return replace(exchange, headers={**exchange.headers, "retry-after": str(seconds)})


def _day(seconds: float) -> date:
    return datetime.fromtimestamp(seconds, UTC).date()
