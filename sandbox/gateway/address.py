"""Which addresses a sandbox may be connected to: those of the world, none of this machine's own."""

import ipaddress
import socket
from enum import Enum

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Kind(Enum):
    """What an address leads to."""

    PUBLIC = "public"
    PRIVATE = "private"
    """A local network, or this machine: only for hosts that a person opened."""
    NEVER = "never"
    """Clouds give out credentials at link-local addresses; the others are no hosts at all."""


def _networks(*texts: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# The registries at iana.org/assignments/iana-ipv4-special-registry and -ipv6-. Python's is_private
# also holds ranges for documentation, which lead to nothing private and serve sealed mirrors.
NEVER = _networks(
    "0.0.0.0/8",  # Linux takes 0.0.0.0 for itself
    "169.254.0.0/16",
    "100.100.100.200/32",  # the metadata of Alibaba's cloud, in a range that can be opened
    "168.63.129.16/32",  # that of Azure, with credentials of its agent
    "fd00:ec2::/32",  # that of Amazon's cloud
    "fd20:ce::254/128",  # that of Google's
    "192.0.0.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "100::/64",
)
PRIVATE = _networks(
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared by a provider's customers, and by overlay networks
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "::1/128",
    "fc00::/7",
    "64:ff9b:1::/48",  # NAT64 of somebody's own, RFC 8215
)
LOOPBACK = ipaddress.IPv6Address("::1")
EMBEDDING = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::/96"), 0),  # IPv4-compatible, RFC 4291
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),  # translated, RFC 2765
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056
)
"""IPv6 networks whose addresses hold an IPv4 address, and how many bits stand behind it."""
TEREDO = ipaddress.IPv6Network("2001::/32")


def kind(address: Address) -> Kind:
    """What this address leads to, whatever form it is written in."""
    kinds = {_by_table(each) for each in (address, *embedded(address))}
    if Kind.NEVER in kinds:
        return Kind.NEVER
    if Kind.PRIVATE in kinds or is_own(address):
        return Kind.PRIVATE
    return Kind.PUBLIC


def embedded(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address) or address == LOOPBACK:
        return ()
    if address in TEREDO and address.teredo:
        return address.teredo
    return tuple(
        ipaddress.IPv4Address(int(address) >> behind & 0xFFFFFFFF)
        for network, behind in EMBEDDING
        if address in network and int(address)
    )[:1]


def is_own(address: Address) -> bool:
    """Whether this machine has the address, also a public one: only its own can be bound."""
    return any(_can_bind(each) for each in (address, *embedded(address)))


def _can_bind(address: Address) -> bool:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((str(address), 0))
    except OSError:
        return False
    return True


def _by_table(address: Address) -> Kind:
    if any(address in network for network in NEVER):
        return Kind.NEVER
    if any(address in network for network in PRIVATE):
        return Kind.PRIVATE
    return Kind.PUBLIC
