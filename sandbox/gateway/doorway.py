"""A place for doors that are there for a while, one after another."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sandbox.gateway.door import Door
from sandbox.gateway.http import Connection, RefusedError, Request


class Doorway:
    """A door that is others while they stand in it; before and after that it lets nothing out.

    A gateway has its doors from its beginning to its end. What is let out for a part of that time
    has a door here, with a token and a budget of its own, and whoever stays behind with the token
    asks in vain.
    """

    def __init__(self) -> None:
        self._standing: tuple[Door, ...] = ()
        self._known: list[Door] = []

    @contextmanager
    def put(self, doors: Sequence[Door]) -> Iterator[None]:
        """Let requests out by these until the end of the block. Works in any thread."""
        self._known += doors
        self._standing = tuple(doors)
        try:
            yield
        finally:
            self._standing = ()

    def takes(self, request: Request) -> bool:
        """What one of those takes that stand in it now."""
        return self._taker(request) is not None

    async def serve(self, request: Request, connection: Connection) -> None:
        """Let that one answer."""
        door = self._taker(request)
        if door is None:  # it went since the request was taken
            raise RefusedError(403, f"{request.method} {request.path[:200]} is not allowed.")
        await door.serve(request, connection)

    async def close(self) -> None:
        """Close all that ever stood in it."""
        for door in self._known:
            await door.close()

    def _taker(self, request: Request) -> Door | None:
        return next((door for door in self._standing if door.takes(request)), None)
