"""Waiting for what other answers hold of a budget."""

import asyncio
import contextlib

from sandbox.gateway.budget import Ledger, Room, Spent
from sandbox.gateway.http import RefusedError
from sandbox.gateway.usage import Usage


class SpentError(RefusedError):
    """A request is not let out for a budget's sake."""

    def __init__(self, spent: Spent) -> None:
        super().__init__(400, str(spent))
        self.spent = spent


class Rooms:
    """Lets questions out while the budgets have room for their answers. Lives in one event loop.

    What an answer holds that cannot be cut is counted as used until its end. Nobody is refused,
    cut or shortened for what is only held: they wait, since most of it comes back.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._ended = asyncio.Event()

    async def find(self, model: str, asked: Usage, wanted: int) -> Room:
        """Room for an answer of `wanted` tokens, or all that is left; else SpentError.

        Who takes it must not pause before: between two steps of the loop nobody else passes.
        """
        while True:
            if spent := self.ledger.spent(before=True):
                raise SpentError(spent)
            room = self.ledger.room(model, asked)
            if not room.shared or room.tokens >= max(wanted, 1):
                return room
            await self._pause()

    async def passed(self) -> Spent | None:
        """Which bound the answers that run have passed."""
        while not (spent := self.ledger.spent(before=False)):
            if not self.ledger.spent(before=False, held=True):
                return None
            await self._pause()
        return spent

    def ended(self) -> None:
        """An answer is over: what it held and did not use is free."""
        self._ended.set()
        self._ended = asyncio.Event()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.ledger.left()):
                await self._ended.wait()
