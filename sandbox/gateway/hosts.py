"""The hosts that a sandbox may reach, by name and port."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

BUNDLES: dict[str, tuple[str, ...]] = {
    "pypi": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org", "registry.yarnpkg.com"),
    "debian": (
        "deb.debian.org",
        "security.debian.org",
        "archive.ubuntu.com",
        "security.ubuntu.com",
        "ports.ubuntu.com",
    ),
    "crates": ("index.crates.io", "static.crates.io", "crates.io"),
    "go": ("proxy.golang.org", "sum.golang.org"),
    "rubygems": ("rubygems.org", "index.rubygems.org"),
    "maven": (
        "repo.maven.apache.org",
        "repo1.maven.org",
        "plugins.gradle.org",
        "plugins-artifacts.gradle.org",
    ),
    "github": (
        "github.com",
        "api.github.com",
        "codeload.github.com",
        "raw.githubusercontent.com",
        "objects.githubusercontent.com",
        "release-assets.githubusercontent.com",
    ),
}
"""What the package tools of each ecosystem ask."""

DEFAULT_PORTS = (80, 443)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_SIX = re.compile(r"\[([0-9a-f:.]+)\]")
_WITH_PORT = re.compile(r"(.*[^:]|\[.*\]):([0-9]{1,5})", re.ASCII)
LONGEST = 253


@dataclass(frozen=True, slots=True)
class Place:
    """A host's port, as it is compared: in lower case, without a dot at the end."""

    host: str
    """A name, an IPv4 address, or an IPv6 address without brackets."""
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def place(text: str, default: int | None = None) -> Place:
    """Read `host:port`. Raises ValueError for anything but one host and one port."""
    host, port = _split(text)
    if port is None:
        port = default
    if port is None or not 0 < port < 1 << 16:
        raise ValueError(f"{text!r} has no port")
    return Place(host, port)


@dataclass(frozen=True, slots=True)
class AllowList:
    """Hosts by name; `*.example.org` stands for every name below example.org, not for itself."""

    places: frozenset[Place] = frozenset()
    below: frozenset[Place] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str]) -> "AllowList":
        """Read bundles, `host` (its ports 80 and 443) and `host:port`.

        Raises ValueError for others, and for a bundle's name that is misspelt.
        """
        places: set[Place] = set()
        below: set[Place] = set()
        for entry in entries:
            _refuse_misspelt(entry)
            for text in BUNDLES.get(entry, (entry,)):
                wild = text.startswith("*.")
                (below if wild else places).update(_places(text[2:] if wild else text, entry))
        return cls(frozenset(places), frozenset(below))

    def allows(self, place: Place) -> bool:
        """Whether this host's port is on the list."""
        if place in self.places:
            return True
        labels = place.host.split(".")
        above = (".".join(labels[at:]) for at in range(1, len(labels)))
        return any(Place(name, place.port) in self.below for name in above)

    def __bool__(self) -> bool:
        return bool(self.places or self.below)


def _refuse_misspelt(entry: str) -> None:
    """A word that is nearly a bundle's name would, as a host, allow nothing and say nothing."""
    word = entry.lower()
    # Letters in another order, such as `pipy`, are not alike to difflib.
    mixed = [name for name in BUNDLES if sorted(name) == sorted(word)]
    near = mixed or difflib.get_close_matches(word, BUNDLES)
    if near and entry not in BUNDLES and not set(entry) & set(".:,"):
        raise ValueError(
            f"{entry!r} is none of the bundles: did you mean {near[0]}? A host of that name is"
            f" written with its port: {entry}:443"
        )


def _places(text: str, entry: str) -> set[Place]:
    try:
        host, port = _split(text)
        ports = DEFAULT_PORTS if port is None else (port,)
        return {place(str(Place(host, each))) for each in ports}
    except ValueError:
        if "," in entry:
            raise ValueError(f"{entry!r} are several: name each of them by itself") from None
        raise ValueError(
            f"{entry!r} is neither a host such as example.org or example.org:8443 nor one of the"
            f" bundles {', '.join(BUNDLES)}"
        ) from None


def _split(text: str) -> tuple[str, int | None]:
    match = _WITH_PORT.fullmatch(text)
    name, port = (match[1], int(match[2])) if match else (text, None)
    return host(name), port


def host(text: str) -> str:
    """A host in the form in which it is compared. Raises ValueError for what is none."""
    name = text.lower()
    if six := _SIX.fullmatch(name):
        return six[1]
    name = name.removesuffix(".")
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise ValueError(f"{text!r} is no host")
    return name
