"""What crashed runs of this user left behind on the engine."""

import os
from collections.abc import Mapping

from sandbox import container
from sandbox.engine import Engine, start_time

IDENTITY = ("app", "host", "host_user")
"""Labels by which a container is ours to judge: other machines and users share engines too."""


def sweep(engine: Engine) -> tuple[str, ...]:
    """Remove the containers whose owner, a process of this user on this machine, is dead.

    Returns the names of those removed. A container of a live owner is never touched, whatever its
    age: it ends by itself at its time limit.
    """
    dead = orphans(engine)
    for name in dead:
        container.remove(engine.client.api, name)
    return dead


def orphans(engine: Engine) -> tuple[str, ...]:
    """The names of the containers that `sweep` would remove."""
    own = engine.host_labels()
    label = [f"{name}={own[name]}" for name in IDENTITY]
    found = engine.client.api.containers(all=True, filters={"label": label})
    return tuple(sorted(item["Names"][0][1:] for item in found if _orphaned(item["Labels"], own)))


def _orphaned(labels: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """Whether the owner is gone; a process id alone may have been given to somebody else since."""
    if labels["host_boot"] != own["host_boot"]:
        return True
    pid = int(labels["host_pid"])
    return not _exists(pid) or labels["host_start"] != start_time(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # gone, or somebody else's by now
        return False
    return True
