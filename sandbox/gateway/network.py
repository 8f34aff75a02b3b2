"""What a sandbox may reach of the world, as a value, and the way there."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox.gateway.dial import Dialer, Resolve, system
from sandbox.gateway.door import Door
from sandbox.gateway.egress import Egress
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.index import Index
from sandbox.gateway.indexes import Indexes
from sandbox.gateway.refusals import Refused
from sandbox.gateway.relay import PORT, Relay

PROXY = f"http://127.0.0.1:{PORT}"
PROXIES: Mapping[str, str] = dict.fromkeys(
    ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), PROXY
) | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,sandbox")
"""Programs differ in which of the two spellings they read; curl takes http_proxy in small alone."""


@dataclass(frozen=True, slots=True)
class Network:
    """Hosts by name, and private package indexes; by default nothing at all."""

    allow: tuple[str, ...] = ()
    """As for `AllowList.of`."""
    indexes: tuple[Index, ...] = ()
    private_hosts: tuple[str, ...] = ()
    """Names that may lead to a private network or to this machine: a person's decision alone."""
    setting: str = "[network] allow"
    """Where `allow` stands, for who has to add to it."""

    def __bool__(self) -> bool:
        return bool(self.allow or self.indexes)

    @property
    def identity(self) -> str:
        """What can be reached, in words that are compared; empty: nothing."""
        if not self:
            return ""
        indexes = sorted((index.name, index.url) for index in self.indexes)
        return json.dumps([sorted(self.allow), indexes])


@dataclass(frozen=True, slots=True)
class Way:
    """The doors of a network, and the relay that leads to them."""

    egress: Egress
    relay: Relay | None
    """None where there is nothing to reach: no container is started for that."""

    @property
    def neighbours(self) -> tuple[Relay, ...]:
        """For `open_box` and `prepare`."""
        return (self.relay,) if self.relay else ()

    def refused(self) -> tuple[Refused, ...]:
        """Each host that was asked for in vain."""
        return self.egress.refused()


def doors(network: Network, resolve: Resolve = system) -> tuple[Egress, Indexes]:
    """The ways out of this network; ValueError for an entry that is no host."""
    dialer = Dialer(network.private_hosts, resolve)
    return (
        Egress(network.allow, dialer, setting=network.setting),
        Indexes(network.indexes, dialer),
    )


@contextlib.contextmanager
def open_way(network: Network, *more: Door, resolve: Resolve = system) -> Iterator[Way]:
    """Serve a network to any number of sandboxes until the end of the block.

    `more` are doors that come before those of the network. ValueError as for `doors`.
    """
    egress, indexes = doors(network, resolve)
    if not (network or more):
        yield Way(egress, None)
        return
    with open_gateway(*more, indexes, egress) as gateway:
        yield Way(egress, Relay(gateway.accept, PROXIES, gateway.lost))
