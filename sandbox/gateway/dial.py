"""Connecting to the world: a name is looked up once, and only what was checked is connected to."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox.gateway.address import Address, Kind, kind
from sandbox.gateway.hosts import Place, host
from sandbox.gateway.http import RefusedError

CONNECT_SECONDS = 15.0
RESOLVE_SECONDS = 10.0
TRIED = 4
"""Addresses of one name, at most; each may take `CONNECT_SECONDS`."""

Resolve = Callable[[str], Iterable[str]]
"""The addresses of a name, in any thread; OSError when it has none."""


class PrivateError(RefusedError):
    """A name leads to this machine or a network of its own."""

    def __init__(self, name: str, found: Address, openable: bool) -> None:
        advice = f"open it with --allow-private {name}" if openable else "it is never reached"
        super().__init__(403, f"{name} leads to {found}, which is not public: {advice}.")
        self.openable = openable


@dataclass(frozen=True, slots=True)
class Streams:
    """Both ways of one connection to the world."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


def system(name: str) -> tuple[str, ...]:
    """The addresses that this machine's own resolver gives."""
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(str(address[0]) for *_, address in found)


class Dialer:
    """Connects by name. `private` are the hosts which a person opened, not the repository."""

    def __init__(self, private: Iterable[str] = (), resolve: Resolve = system) -> None:
        self._private = frozenset(host(name) for name in private)
        self._resolve = resolve

    def opened(self, name: str) -> bool:
        """Whether a person said that this host may lead to a private network."""
        return name in self._private

    async def connect(self, place: Place, tls: ssl.SSLContext | None = None) -> Streams:
        """Connect to the first address that answers, when all of them may be reached.

        Raises PrivateError, and RefusedError (502, 504) when none answers.
        """
        addresses = await self._addresses(place.host)
        said = ""
        for address in addresses[:TRIED]:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await _connect(address, place, tls)
            except TimeoutError:
                said = "it does not answer"
            except ssl.SSLError as error:
                said = f"TLS failed: {error.reason or error}"
            except OSError as error:
                said = error.strerror or str(error)
        raise RefusedError(502, f"{place} cannot be reached: {said}.")

    async def _addresses(self, name: str) -> list[Address]:
        found = await self._lookup(name)
        for address in found:
            what = kind(address)
            if what is Kind.NEVER or (what is Kind.PRIVATE and not self.opened(name)):
                raise PrivateError(name, address, what is Kind.PRIVATE)
        return found

    async def _lookup(self, name: str) -> list[Address]:
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                texts = await asyncio.to_thread(self._resolve, name)
                # A scope, as in fe80::1%eth0, names an interface of this machine.
                found = [ipaddress.ip_address(text.partition("%")[0]) for text in texts]
        except TimeoutError:
            raise RefusedError(504, f"The name {name} was not resolved in time.") from None
        except (OSError, UnicodeError, ValueError):
            found = []
        if not found:
            raise RefusedError(502, f"There is no host {name}: check its name.")
        return list(dict.fromkeys(found))


async def _connect(address: Address, place: Place, tls: ssl.SSLContext | None) -> Streams:
    # Already an address, and the flag makes sure: no second lookup can answer otherwise.
    reader, writer = await asyncio.open_connection(
        str(address),
        place.port,
        ssl=tls,
        server_hostname=place.host if tls else None,
        flags=socket.AI_NUMERICHOST,
    )
    return Streams(reader, writer)
