"""A service that a sandbox needs beside it, such as a database, as the settings describe it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

RELAY_PORT = 13128
"""Where a sandbox reaches its ways out: no service can have it."""


@dataclass(frozen=True, slots=True)
class Companion:
    """One container in the sandbox's network namespace, reached on 127.0.0.1."""

    name: str
    image: str
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """What the image's entry point is given; empty: what the image says itself."""
    ready: str = ""
    """A command line for the sh of its image that succeeds once it can be used."""
    port: int = 0
    """Without `ready`: the port that is open once it can be used."""
    user: str = ""
    """Who it runs as; empty: whom the image names."""
    memory: int = 1 << 30
    """Bytes, swap included."""
    seconds: float = 60.0
    """How long it may take until it can be used."""
