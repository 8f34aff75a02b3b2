"""Which requests for a model go where: exact methods and paths, a fixed provider, its key."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from sandbox.gateway import chat, messages, responses
from sandbox.gateway.dialect import Dialect
from sandbox.gateway.http import Headers, RefusedError, Request

Api = Literal["anthropic", "openai"]


@dataclass(frozen=True, slots=True)
class Route:
    """One provider that a sandbox may ask."""

    api: Api
    base_url: str
    """Without a path for Anthropic, with `/v1` for OpenAI and what is compatible."""
    key: str = field(repr=False)
    """Empty where the server wants none."""
    models: tuple[str, ...]
    """Names that may be asked, `*` and `?` as in a shell."""
    provider: str = ""
    """The provider's name in `provider:model` for prices; by default the name of the API."""
    tools: tuple[str, ...] = ()
    """Types of provider-side tools that are not withheld, e.g. `web_search*`, `mcp_servers`."""
    bearer: bool = False
    """The key is the token of somebody's login, which is shown as one, whatever the API."""

    def __post_init__(self) -> None:
        """Raises ValueError for a key that no header can hold: errors about those quote it."""
        if not re.fullmatch(r"[!-~]*", self.key):
            raise ValueError("the key holds characters no key has, such as a line's end")

    def allows(self, model: str) -> bool:
        """Whether this model may be asked."""
        return any(fnmatchcase(model, name) for name in self.models)

    def keeps(self, tool: str) -> bool:
        """Whether a provider-side tool of this type may be offered."""
        return any(fnmatchcase(tool, name) for name in self.tools)

    def priced(self, model: str) -> str:
        """`provider:model`."""
        return f"{self.provider or self.api}:{model}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path of an API."""

    api: Api
    dialect: Dialect
    suffix: str
    """Behind the base URL."""
    paid: bool = True
    """Whether it answers with tokens."""


ENDPOINTS = {
    ("POST", "/v1/messages"): Endpoint("anthropic", messages, "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"): Endpoint(
        "anthropic", messages, "/v1/messages/count_tokens", paid=False
    ),
    ("POST", "/v1/responses"): Endpoint("openai", responses, "/responses"),
    ("POST", "/v1/chat/completions"): Endpoint("openai", chat, "/chat/completions"),
}
ALIVE = ("HEAD", "/")
"""Claude Code asks this first, and works without an answer, but later."""

HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "proxy-authenticate", "proxy-authorization"}
)
_OURS = (
    HOP_BY_HOP
    | {"x-api-key", "authorization", "cookie", "host", "content-length", "accept-encoding"}
    | {"expect", "forwarded", "openai-organization", "openai-project"}
)
"""Headers that never leave: who asks is decided here."""
_QUERY = re.compile(r"[A-Za-z0-9_.~=&,%+-]*")


def choose(routes: Sequence[Route], endpoint: Endpoint, model: str) -> Route:
    """The route for a model; RefusedError (403) when none may be asked for it."""
    for route in routes:
        if route.api == endpoint.api and route.allows(model):
            return route
    raise RefusedError(403, f"The model {model[:100]!r} is not allowed here.")


def query(request: Request) -> str:
    """What follows the path, with its `?`; RefusedError (400) for what no client sends there."""
    found = request.target.partition("?")[2]
    if not _QUERY.fullmatch(found):
        raise RefusedError(400, "The query of this request holds characters that are refused.")
    return f"?{found}" if found else ""


def passed_on(request: Request) -> Headers:
    """The headers that may leave the sandbox."""
    named = {
        name.strip().lower() for value in request.values("connection") for name in value.split(",")
    }
    return tuple(
        (name, value)
        for name, value in request.headers
        if name not in _OURS and name not in named and not name.startswith("x-forwarded-")
    )
