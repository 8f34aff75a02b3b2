"""What the person at this machine opens and holds, from the environment alone."""

from collections.abc import Mapping

from sandbox.gateway.index import Index

PRIVATE_HOSTS = "ORCHESTRATOR_PRIVATE_HOSTS"
"""The variable that names hosts which may be in a private network, with commas or spaces."""


def private_hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that may lead to a private network or to this machine."""
    return tuple(environ.get(PRIVATE_HOSTS, "").replace(",", " ").split())


def credentials(indexes: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The credential of each private package index that has one here."""
    variables = {name: Index(name, url).variable for name, url in indexes.items()}
    return {name: environ[each] for name, each in variables.items() if environ.get(each)}
