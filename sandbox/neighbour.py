"""What shares a sandbox's network namespace, and so is reached on its 127.0.0.1: gateway, services.

A sandbox has no network of its own. A neighbour is a container beside it that joined its namespace;
it comes before the first command of the sandbox and goes with it.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from sandbox.engine import Engine


class Neighbour(Protocol):
    """Something that can be put beside any number of sandboxes, one after the other or at once."""

    def join(
        self, engine: Engine, container: str, labels: Mapping[str, str]
    ) -> AbstractContextManager[Mapping[str, str]]:
        """Start beside a running container, and end with the block.

        What it starts carries `labels`, by which the sweep finds it. Gives the variables that
        commands in the sandbox should see. Raises SandboxError when it does not come up.
        """
        ...
