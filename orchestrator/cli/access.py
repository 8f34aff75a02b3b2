"""What the person at this machine opens and holds, from the environment alone."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from orchestrator.errors import UsageError
from sandbox.gateway.index import Index

PRIVATE_HOSTS = "ORCHESTRATOR_PRIVATE_HOSTS"
"""The variable that names hosts which may be in a private network, with commas or spaces."""


def private_hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that may lead to a private network or to this machine."""
    return tuple(environ.get(PRIVATE_HOSTS, "").replace(",", " ").split())


def credentials(indexes: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The credential of each private package index that has one here.

    Written as `https://user:password@host`, it is for that host alone: raises UsageError when the
    repository names another one.
    """
    known = [Index(name, url) for name, url in indexes.items()]
    return {
        index.name: _bound(index, environ[index.variable])
        for index in known
        if environ.get(index.variable)
    }


def _bound(index: Index, said: str) -> str:
    if not said.startswith(("https://", "http://")):
        return said
    mine, theirs = urlsplit(said), urlsplit(index.url)
    if (mine.scheme, mine.hostname, mine.port) != (theirs.scheme, theirs.hostname, theirs.port):
        raise UsageError(
            f"{index.variable} is for {mine.hostname}, but the repository's settings name"
            f" {index.url}: mend the one that is wrong."
        )
    return ":".join(unquote(part) for part in (mine.username, mine.password) if part)
