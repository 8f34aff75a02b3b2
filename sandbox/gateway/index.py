"""A private package index, as the settings name it."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sandbox.gateway.hosts import place

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True)
class Index:
    """A package index that needs a credential, or that no list of hosts names."""

    name: str
    url: str
    """https; http only where a person opened the host as private."""
    credential: str = field(default="", repr=False)
    """`user:password`, or a token."""

    def __post_init__(self) -> None:
        """Raises ValueError for a name, URL or credential that cannot be one."""
        if not NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name of an index: use a-z, 0-9, - and _")
        url = urlsplit(self.url)
        if url.scheme not in ("https", "http") or not url.hostname:
            raise ValueError(f"the index {self.name} needs a url that begins with https://")
        if url.username or url.password or url.query or url.fragment:
            raise ValueError(
                f"the url of the index {self.name} holds more than a host and a path: put the"
                f" credential into {self.variable}"
            )
        place(url.netloc, 443)
        if not self.credential.isprintable():
            raise ValueError(f"{self.variable} holds characters no credential has")

    @property
    def variable(self) -> str:
        """The environment variable of the host that holds the credential."""
        return f"ORCHESTRATOR_INDEX_{self.name.upper().replace('-', '_')}"
