"""A question that is on its way to a model: its answer waits for whoever is told of it."""

import asyncio
import contextlib
import time
from collections.abc import Mapping

HELD_SECONDS = 30.0
"""The longest wait. Clients of models wait a minute and more for the first byte of an answer."""


class Asked:
    """One question, told before it is answered. Made in the gateway's event loop.

    A program goes on with the answer to a question. So whoever holds it back can do what has to be
    done first, such as looking at what the program's tools have changed; the model is asked
    meanwhile.
    """

    def __init__(self, results: Mapping[str, str]) -> None:
        self.results: Mapping[str, str] = results
        """What tools gave back, by the ids of their calls, in the whole conversation."""
        self.until = time.monotonic() + HELD_SECONDS
        """When the answer begins in any case, on the monotonic clock."""
        self.over = False
        """Whether nobody waits for the answer any more, and `results` are forgotten."""
        self._loop = asyncio.get_running_loop()
        self._may = asyncio.Event()

    @property
    def late(self) -> bool:
        """Whether the answer has begun without leave."""
        return time.monotonic() >= self.until

    def let_in(self) -> None:
        """The answer may begin. Works in any thread, and more than once."""
        with contextlib.suppress(RuntimeError):  # the gateway is closed, and nobody waits
            self._loop.call_soon_threadsafe(self._may.set)

    def end(self) -> None:
        """The answer is over: what was asked, which may be long, is not kept any longer."""
        self.over = True  # first: whoever sees that there is nothing sees why
        self.results = {}

    async def allowed(self) -> None:
        """Wait until the answer may begin, no longer than `until`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.until - time.monotonic()):
                await self._may.wait()
