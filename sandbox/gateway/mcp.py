"""The door to tools on the host: MCP's streamable HTTP, as a program in a sandbox speaks it.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, without sessions and
without a stream of the server's own, which the specification leaves open. The official SDK is not
used: it brings a web framework, a server and an HTTP client, and would listen by itself, where
this is one more door of a gateway that has bounds for hostile clients already.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.gateway import rpc
from sandbox.gateway.aside import Aside
from sandbox.gateway.http import Connection, RefusedError, Request
from sandbox.gateway.rpc import Message, RpcError
from sandbox.gateway.token import require_token

PATH = "/mcp"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Of the protocol, newest first; for tools alone they are the same."""
BODY_CAP = 1 << 20
"""Bytes of a message; a patch is the largest, and no model writes more in one answer."""
BODY_SECONDS = 30.0
AT_ONCE = 8
"""Messages that are held at the same time; others wait."""
_JSON = ("content-type", "application/json")


@dataclass(frozen=True, slots=True)
class Told:
    """What a call gives back."""

    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool with what a model has to know to call it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of its arguments; who is called checks them."""
    call: Callable[[str], Told]
    """Given the arguments as a JSON text, which is hostile; called in a thread of the door's."""
    reads: bool = False
    """Whether nothing can differ afterwards."""

    @property
    def told(self) -> dict[str, Any]:
        """As `tools/list` has it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": {"readOnlyHint": self.reads},
        }


class Mcp:
    """Offers tools by the name of a server; calls are carried out one after another."""

    def __init__(self, name: str, token: str, offers: Sequence[Offer]) -> None:
        """`token` is what the sandbox has to show."""
        if not token:
            raise ValueError("a door without a token would serve anybody")
        self._name = name
        self._token = token.encode()
        self._offers = {offer.name: offer for offer in offers}
        self._thread = Aside("mcp")
        self._places = asyncio.Semaphore(AT_ONCE)

    def takes(self, request: Request) -> bool:
        """One path, whatever the method."""
        return request.path == PATH

    async def serve(self, request: Request, connection: Connection) -> None:
        """Answer one message."""
        require_token(request, self._token)
        _require_plain(request)
        async with self._places:
            async with asyncio.timeout(BODY_SECONDS):
                body = await connection.body(BODY_CAP)
            await connection.watched(self._answer(body, connection))

    async def close(self) -> None:
        """Take no further call; one that goes on ends by itself."""
        self._thread.shutdown()

    async def _answer(self, body: bytes, connection: Connection) -> None:
        try:
            message = rpc.read(body)
        except RpcError as error:
            return await connection.respond(400, [_JSON], rpc.failure(None, error))
        if message.id is None:  # none of the notifications asks for anything
            return await connection.respond(202)
        return await connection.respond(200, [_JSON], await self._answered(message))

    async def _answered(self, message: Message) -> bytes:
        try:
            return rpc.result(message.id, await self._result(message))
        except RpcError as error:
            return rpc.failure(message.id, error)

    async def _result(self, message: Message) -> Mapping[str, Any]:
        match message.method:
            case "initialize":
                return self._greeting(message.text("protocolVersion"))
            case "ping":
                return {}
            case "tools/list":
                return {"tools": [offer.told for offer in self._offers.values()]}
            case "tools/call":
                return await self._called(message)
        raise RpcError(rpc.NO_METHOD, f"There is no method {message.method[:100]!r} here.")

    def _greeting(self, asked: str) -> Mapping[str, Any]:
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self._name, "version": "1"},
        }

    async def _called(self, message: Message) -> Mapping[str, Any]:
        name, arguments = message.text("name"), message.params.get("arguments", {})
        offer = self._offers.get(name)
        if offer is None:
            raise RpcError(rpc.PARAMS, f"There is no tool {name[:100]!r} here.")
        if not isinstance(arguments, dict):
            raise RpcError(rpc.PARAMS, "`arguments` has to be an object.")
        try:
            given = json.dumps(arguments)
        except RecursionError:
            raise RpcError(rpc.PARAMS, "`arguments` is nested too deeply.") from None
        loop = asyncio.get_running_loop()
        told = await loop.run_in_executor(self._thread, offer.call, given)
        return {"content": [{"type": "text", "text": told.text}], "isError": told.error}


def _require_plain(request: Request) -> None:
    """Raise RefusedError for what no program sends that was told of this door."""
    if request.method != "POST":
        raise RefusedError(405, "Only POST is answered here.", {"allow": "POST"})
    if request.values("origin"):
        raise RefusedError(403, "A page in a browser is not answered here.")
    if request.values("content-encoding"):
        raise RefusedError(415, "A packed body is refused: send it as it is.")
    kinds = [value.partition(";")[0].strip().lower() for value in request.values("content-type")]
    if kinds != ["application/json"]:
        raise RefusedError(415, "The body has to be application/json.")
    if not set(request.values("mcp-protocol-version")) <= set(VERSIONS):
        raise RefusedError(400, f"Only these versions are spoken: {', '.join(VERSIONS)}.")
