"""The ways out of a run's sandboxes: to the hosts that its task names, and nowhere else."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from orchestrator.attempt import Attempt
from orchestrator.events import EgressRefused, Stage, Warned
from orchestrator.task import Task
from sandbox.gateway.door import Door
from sandbox.gateway.index import Index
from sandbox.gateway.network import Network, Way, open_way

LOOKS_SECONDS = 0.5
"""Between two looks at what was refused; output may come by the million lines."""


@dataclass(slots=True)
class News:
    """Tells a host that was refused while the work goes on, once."""

    way: Way
    _known: set[str] = field(default_factory=set)
    _next: float = 0.0

    def tell(self, attempt: Attempt) -> None:
        """Tell those that are new since the last time."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOKS_SECONDS
        for each in self.way.refused():
            if each.host not in self._known:
                self._known.add(each.host)
                attempt.tell(Warned(text=f"{each.host} was asked for and refused."))


@dataclass(frozen=True, slots=True)
class Ways:
    """What set-up may reach, and what work and proof may."""

    setup: Way
    reach: str
    """All that set-up may reach, in words: another text makes another image."""
    work: Way
    """For proof as well."""
    network: Network
    """What `work` leads to."""


@contextmanager
def open_ways(attempt: Attempt, task: Task, credentials: Mapping[str, str]) -> Iterator[Ways]:
    """Serve both until the end of the block, then tell what was refused at work.

    `credentials` are those of the private indexes, by their names.
    """
    asked, named = task.network, task.network.indexes
    indexes = tuple(Index(name, url, credentials.get(name, "")) for name, url in named.items())
    setup = Network(asked.setup, indexes, asked.private_hosts, "[network] setup")
    setup = setup if task.setup and task.setup_network else Network()
    work = Network(asked.allow, indexes, asked.private_hosts)
    with open_way(setup) as first, open_way(work) as second:
        try:
            yield Ways(first, setup.identity, second, work)
        finally:
            tell_refused(attempt, second, "work")


@contextmanager
def with_doors(attempt: Attempt, ways: Ways, doors: Sequence[Door]) -> Iterator[Way]:
    """The way to work with further doors, which a proof does not have."""
    if not doors:
        yield ways.work
        return
    with open_way(ways.network, *doors) as way:
        try:
            yield way
        finally:
            tell_refused(attempt, way, "work")


def tell_refused(attempt: Attempt, way: Way, stage: Stage) -> None:
    """Tell each host once that was asked for in vain."""
    for each in way.refused():
        attempt.tell(
            EgressRefused(host=each.host, count=each.count, remedy=each.remedy, stage=stage)
        )
