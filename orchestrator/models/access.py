"""How one model of one provider is reached."""

import re
from dataclasses import dataclass, field

CONNECT_SECONDS = 10.0
"""How long a server may take to accept a connection."""


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

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The base URL without a login that may stand in it: fit for messages."""
        return re.sub(r"//[^/]*@", "//", self.base_url)


def address_variable(provider: str) -> str:
    """The variable that may hold another base URL for this provider."""
    return provider.upper().replace("-", "_") + "_BASE_URL"
