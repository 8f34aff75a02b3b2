"""One way to speak to a model: how usage is told, how errors look, which tools reach the web."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandbox.gateway.usage import Usage

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    411: "invalid_request_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
    502: "api_error",
}
"""The word for a status in an error document; Anthropic's words, which OpenAI shares where it has
any."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one event, or one whole document, says about usage."""

    written: int = 0
    """Bytes of output in it."""
    reported: Mapping[str, int] = field(default_factory=dict)
    """The provider's counts, under its own names; later ones replace earlier ones."""
    last: bool = False
    """Whether the counts are whole with it."""
    problem: str = ""
    """The kind or code of an error within a stream."""


class Dialect(Protocol):
    """A member of the family; each is a module."""

    def seen(self, event: dict[str, Any]) -> Seen:
        """What an event or a document says."""
        ...

    def results(self, body: dict[str, Any]) -> dict[str, str]:
        """What the tools gave back that a question tells of, by the ids of their calls."""
        ...

    def usage(self, reported: Mapping[str, int]) -> Usage | None:
        """The counts in our words; None while there are none."""
        ...

    def problem(self, kind: str, message: str) -> dict[str, Any]:
        """An error document."""
        ...

    def problem_frame(self, kind: str, message: str) -> bytes:
        """An error within a stream."""
        ...

    def tool(self, tool: dict[str, Any]) -> str | None:
        """The type of a tool that runs at the provider; None for one that the client runs."""
        ...

    WITHHELD: tuple[str, ...]
    """Top-level keys that make the provider reach out, or cost more than the list price."""
    REFUSED: tuple[str, ...]
    """Top-level keys that cannot be taken away without changing what is asked."""
    CEILINGS: tuple[str, ...]
    """Top-level keys that limit the tokens of an answer, the one of the newest models last."""
    LEAST: int
    """The smallest limit that the API takes."""


def numbers(counts: object, *path: str) -> dict[str, int]:
    """The whole numbers at `path` of a usage object; what is malformed is left out."""
    for step in path:
        counts = counts.get(step) if isinstance(counts, dict) else None
    if not isinstance(counts, dict):
        return {}
    return {
        name: value for name, value in counts.items() if type(value) is int and 0 <= value < 1 << 40
    }


def code(value: object) -> str:
    """The code of an error object, or its type; empty for what is none."""
    if not isinstance(value, dict):
        return ""
    named = value.get("code") or value.get("type")
    return named if isinstance(named, str) else ""


def objects(value: object) -> Iterator[dict[str, Any]]:
    """The objects of a list; none of what is no list."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def given_back(pairs: Iterable[tuple[object, object]]) -> dict[str, str]:
    """What tools gave back, by call: a text each, or a list of blocks of which some are texts."""
    return {call: _text(content) for call, content in pairs if isinstance(call, str)}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in objects(content))
    return "\n".join(text for text in texts if isinstance(text, str))


def size(value: object) -> int:
    """Bytes of a text; 0 for what is none."""
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 0
