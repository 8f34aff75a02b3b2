"""JSON-RPC 2.0 as far as MCP uses it: one message a body, read strictly."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.gateway import question
from sandbox.gateway.http import RefusedError

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602
"""Codes of https://www.jsonrpc.org/specification#error_object."""
LONGEST = 256
"""Characters of an id, which goes back as it came."""

Id = str | int | None


class RpcError(Exception):
    """What is wrong with a message, in a sentence for who sent it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or without an id a notification, which nobody answers."""

    method: str
    id: Id = None
    params: dict[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The text that a parameter has to be; RpcError for anything else."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise RpcError(PARAMS, f"`{name}` has to be a text.")
        return value


def read(body: bytes) -> Message:
    """The message of a body. Raises RpcError for a list of messages, an answer, and no message."""
    try:
        value = question.parse(body)
    except RefusedError as refused:
        raise RpcError(PARSE, str(refused)) from None
    method, params, own = value.get("method"), value.get("params", {}), value.get("id")
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(INVALID, "This is no JSON-RPC 2.0 request or notification.")
    if not isinstance(params, dict):
        raise RpcError(INVALID, "`params` has to be an object.")
    known = type(own) is int or isinstance(own, str)
    if "id" in value and not (known and len(str(own)) <= LONGEST):
        raise RpcError(INVALID, f"`id` has to be a whole number or a text up to {LONGEST} long.")
    return Message(method, own, params)


def result(own: Id, value: Mapping[str, Any]) -> bytes:
    """The answer to a request."""
    return json.dumps({"jsonrpc": "2.0", "id": own, "result": value}).encode()


def failure(own: Id, error: RpcError) -> bytes:
    """The answer to what cannot be done; without an id, to what was no request."""
    said = {"code": error.code, "message": str(error)}
    return json.dumps({"jsonrpc": "2.0", "id": own, "error": said}).encode()
