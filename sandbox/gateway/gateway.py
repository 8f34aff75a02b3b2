"""A gateway: one thread with one event loop that serves connections out of one sandbox."""

import asyncio
import contextlib
import json
import socket
import threading
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from sandbox.errors import GatewayError
from sandbox.gateway.door import Door
from sandbox.gateway.http import Connection, GoneError, RefusedError, Request

CONNECTIONS = 256
"""How many connections are served at once; more are closed at once."""
CLOSE_SECONDS = 5.0
FAULTS = 20
"""Mistakes of ours that are kept; a sandbox that found one could repeat it without end."""
NO_RETRY = ("x-should-retry", "false")
"""Read by the providers' own clients: what we refuse once we refuse again."""


class Gateway:
    """Serves connections until it is closed. `accept`, `lost` and `faults` work in any thread."""

    def __init__(self, doors: Sequence[Door]) -> None:
        self._doors = tuple(doors)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._unseen)
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()
        self._why: str | None = None
        self.faults: list[str] = []
        """Tracebacks of our own mistakes, the first `FAULTS`; each cost one connection."""
        self._thread = threading.Thread(target=self._run, name="gateway", daemon=True)
        self._thread.start()

    def accept(self, sock: socket.socket) -> None:
        """Serve one end of a connected stream socket; it belongs to the gateway from now on.

        Raises GatewayError when the gateway is closed; the socket is closed then, too.
        """
        with self._lock:
            if self._why is None:
                self._loop.call_soon_threadsafe(self._start, sock)
                return
        sock.close()
        raise GatewayError(self._why)

    def lost(self) -> str | None:
        """Why nothing is served any more, in a sentence; None while it is."""
        return self._why

    def close(self) -> None:
        """End all connections, then the doors; nothing is served afterwards."""
        with self._lock:
            if self._why is None:
                self._why = "The gateway is closed: the run that needs it is over."
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(CLOSE_SECONDS * 2)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._stopping.wait())
        except BaseException as error:
            self._blame(error)
            with self._lock:
                self._why = f"The gateway failed ({error!r}): start the run again."
        try:
            self._loop.run_until_complete(self._finish())
        finally:
            self._loop.close()

    def _blame(self, error: BaseException) -> None:
        if len(self.faults) < FAULTS:
            self.faults.append("".join(traceback.format_exception(error)))

    def _unseen(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What nobody awaited; by default asyncio would print it."""
        self._blame(context.get("exception") or RuntimeError(str(context["message"])))

    async def _finish(self) -> None:
        await asyncio.sleep(0)  # a task cancelled before its first step never closes its socket
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)
        for door in self._doors:
            await door.close()

    def _start(self, sock: socket.socket) -> None:
        if len(self._tasks) >= CONNECTIONS:
            sock.close()
            return
        task = self._loop.create_task(self._converse(sock))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, sock: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=sock)
        connection = Connection(reader, writer)
        try:
            while await self._exchange(connection):
                pass
            await connection.close()
        except (GoneError, TimeoutError, OSError):
            return
        except Exception as error:
            self._blame(error)
        finally:
            writer.close()

    async def _exchange(self, connection: Connection) -> bool:
        """Serve one request; whether there may be another."""
        try:
            request = await connection.next()
            if request is None:
                return False
            await self._serve(request, connection)
        except RefusedError as refused:
            if connection.begun:
                return False
            await connection.respond(refused.status, *_refusal(refused))
            return False
        return True

    async def _serve(self, request: Request, connection: Connection) -> None:
        for door in self._doors:
            if door.takes(request):
                return await door.serve(request, connection)
        raise RefusedError(403, f"{request.method} {request.path[:200]} is not allowed.")


@contextlib.contextmanager
def open_gateway(*doors: Door) -> Iterator[Gateway]:
    """Serve with these doors, tried in this order, until the end of the block."""
    gateway = Gateway(doors)
    try:
        yield gateway
    finally:
        gateway.close()


def _refusal(refused: RefusedError) -> tuple[list[tuple[str, str]], bytes]:
    body = json.dumps({"error": {"type": "gateway_refused", "message": str(refused)}}).encode()
    headers = [("content-type", "application/json"), ("connection", "close"), NO_RETRY]
    return [*headers, *refused.headers.items()], body
