"""What stands behind a gateway: each door takes one kind of request and lets it out."""

from typing import Protocol

from sandbox.gateway.http import Connection, Request


class Door(Protocol):
    """One way out. Called in the gateway's event loop only."""

    def takes(self, request: Request) -> bool:
        """Whether this request is for this door; the first door that takes it serves it."""
        ...

    async def serve(self, request: Request, connection: Connection) -> None:
        """Answer the request.

        Raises RefusedError before the answer has begun: the connection then sends it. Cancelled
        when the client goes or the gateway closes.
        """
        ...

    async def close(self) -> None:
        """Let go of what is open towards the outside; no connection is left by then."""
        ...
