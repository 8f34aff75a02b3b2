"""The `[network]` table: what may be reached of the world."""

from msgspec import Struct, field

from orchestrator.task import Network
from sandbox.gateway.hosts import BUNDLES, AllowList, host
from sandbox.gateway.index import Index


class IndexSettings(Struct, frozen=True):
    """One private package index; its credential is never here."""

    url: str


class NetworkSettings(Struct, frozen=True):
    """That table."""

    allow: tuple[str, ...] = ()
    """Bundles and hosts, for work and proof."""
    setup: tuple[str, ...] | None = None
    """The same for set-up, when it has network; every bundle, when nothing is said."""
    indexes: dict[str, IndexSettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        AllowList.of((*self.allow, *(self.setup or ())))
        for name, index in self.indexes.items():
            Index(name, index.url)


def network(
    named: NetworkSettings, allow: tuple[str, ...], private_hosts: tuple[str, ...], *, online: bool
) -> Network:
    """What a run reaches: `allow` in the place of the table's, set-up only when it is `online`.

    Raises ValueError for what is no host.
    """
    AllowList.of(allow)
    setup = tuple(BUNDLES) if named.setup is None else named.setup
    return Network(
        allow=allow or named.allow,
        setup=setup if online else (),
        indexes={name: index.url for name, index in named.indexes.items()},
        private_hosts=tuple(host(name) for name in private_hosts),
    )
