"""What the person at this machine opens and holds, from the environment alone."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import SplitResult, unquote, urlsplit

from orchestrator.errors import UsageError
from sandbox.gateway.index import Index

PRIVATE_HOSTS = "ORCHESTRATOR_PRIVATE_HOSTS"
"""The variable that names hosts which may be in a private network, with commas or spaces."""
_PORTS = {"http": 80, "https": 443}


def private_hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that may lead to a private network or to this machine."""
    return tuple(environ.get(PRIVATE_HOSTS, "").replace(",", " ").split())


def credentials(indexes: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The credential of each private package index that has one here.

    It is written as `https://user:password@host` and given to that host alone: the repository names
    where it goes. Raises UsageError, which never quotes it, for another form and another host.
    """
    known = [Index(name, url) for name, url in indexes.items()]
    return {
        index.name: _bound(index, environ[index.variable])
        for index in known
        if environ.get(index.variable)
    }


def _bound(index: Index, said: str) -> str:
    mine, theirs = _split(said), urlsplit(index.url)
    if mine is None:
        raise UsageError(
            f"{index.variable} must say which host it is for, because the repository's settings"
            f" would send it to {theirs.hostname}: write it as https://USER:PASSWORD@HOST or"
            " https://TOKEN@HOST, and in them %2F for /, %40 for @, %23 for #, %3F for ?."
        )
    if _origin(mine) != _origin(theirs):
        raise UsageError(
            f"{index.variable} is for {mine.hostname}, but the repository's settings name"
            f" {index.url}: mend the one that is wrong."
        )
    credential = ":".join(unquote(part) for part in (mine.username, mine.password) if part)
    try:
        return replace(index, credential=credential).credential
    except ValueError as error:
        raise UsageError(f"{error}: copy it again.") from None


def _split(said: str) -> SplitResult | None:
    """The parts of an address with a credential; None for what is none, or may be cut wrongly."""
    try:
        parts = urlsplit(said.strip())
        whole = parts.scheme in _PORTS and parts.username and parts.hostname and parts.port != 0
    except ValueError:  # it quotes what it took for a port: a piece of the password
        return None
    # A password with a plain `/` ends the host early; what comes behind it holds the `@` then.
    return parts if whole and "@" not in f"{parts.path}{parts.query}{parts.fragment}" else None


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)
