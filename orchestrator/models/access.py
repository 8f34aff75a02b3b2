"""How one model of one provider is reached."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from orchestrator.models.retry import Patience

if TYPE_CHECKING:
    import httpx2

    from sandbox.gateway.upstream import Upstream

CONNECT_SECONDS = 10.0
"""How long a server may take to accept a connection."""


class Traffic(Protocol):
    """The way between API clients and their servers."""

    source: str
    """The folder that is played from; empty where a server answers."""
    patience: Patience
    """How waiting between two attempts is done."""

    def client(
        self, access: "Access", make: "Callable[..., httpx2.Client]"
    ) -> "httpx2.Client | None":
        """What an SDK is given as its HTTP client, which `make` makes; None: its own."""
        ...

    def upstream(self, upstream: "Upstream", token: str) -> "Upstream":
        """What a gateway asks in place of `upstream`; the sandbox holds `token`."""
        ...

    def begin(self, folder: Path, model: str) -> None:
        """The run begins, and keeps its model traffic in this folder, if it keeps any."""
        ...

    def end(self) -> str:
        """What is to be said about it at the end, as a sentence; often nothing."""
        ...


class Direct:
    """Traffic that nobody looks at."""

    source = ""
    patience = Patience()

    def client(self, access: "Access", make: "Callable[..., httpx2.Client]") -> None:
        """The SDK's own."""

    def upstream(self, upstream: "Upstream", token: str) -> "Upstream":
        """The same."""
        return upstream

    def begin(self, folder: Path, model: str) -> None:
        """Nothing is kept."""

    def end(self) -> str:
        return ""


DIRECT = Direct()


@dataclass(frozen=True, slots=True)
class Access:
    """Everything an API client needs; given by the caller, never read from the environment."""

    provider: str
    model: str
    base_url: str
    key: str = field(repr=False)
    variable: str
    """The variable that should hold the key: named when the key is wrong."""
    silence: float = 120.0
    """Seconds without a byte after which the connection counts as broken."""
    traffic: Traffic = field(default=DIRECT, repr=False, compare=False)

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The base URL without a login that may stand in it: fit for messages."""
        return re.sub(r"//[^/]*@", "//", self.base_url)

    def client(self, make: "Callable[..., httpx2.Client]") -> "httpx2.Client | None":
        """What an SDK is given as its HTTP client, which `make` makes; None: its own."""
        return self.traffic.client(self, make)


def address_variable(provider: str) -> str:
    """The variable that may hold another base URL for this provider."""
    return provider.upper().replace("-", "_") + "_BASE_URL"
