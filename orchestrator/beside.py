"""The `[services.NAME]` tables: what has to run beside the work, such as a database."""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from sandbox.companion import RELAY_PORT, Companion

_SMALLEST_MEMORY = 16 << 20
_LONGEST_START = 600.0
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Beside(Struct, frozen=True):
    """One such table."""

    image: str
    env: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """What the image's entry point is given, in the place of what the image says itself."""
    ready: str = ""
    """A command line that succeeds inside the service once it can be used."""
    port: int = 0
    """Without `ready`: the port that is open once it can be used."""
    user: str = ""
    memory: str = "1g"
    seconds: float = 60.0
    """How long it may take until it can be used."""


def companions(tables: Mapping[str, Beside], size: Callable[[str], int]) -> tuple[Companion, ...]:
    """All services; raises ValueError for what one may not say, and for a port of two."""
    found = tuple(companion(name, table, size) for name, table in tables.items())
    ports = [each.port for each in found if each.port]
    if len(set(ports)) < len(ports):
        raise ValueError("services: two of them have the same port, and all share one 127.0.0.1")
    return found


def companion(name: str, table: Beside, size: Callable[[str], int]) -> Companion:
    """The service that a table asks for; raises ValueError for what it may not say.

    `size` reads a size such as `512m`, in bytes, or raises ValueError.
    """
    try:
        memory = size(table.memory)
        problem = _problem(name, table, memory)
    except ValueError as error:
        memory, problem = 0, str(error)
    if problem:
        raise ValueError(f"services.{name}: {problem}")
    return Companion(
        name=name,
        image=table.image,
        env=table.env,
        command=table.command,
        ready=table.ready,
        port=table.port,
        user=table.user,
        memory=memory,
        seconds=table.seconds,
    )


def _problem(name: str, table: Beside, memory: int) -> str:
    if not _NAME.fullmatch(name):
        return "a name is lower case letters, digits and -, at most 31"
    if not table.image:
        return "image must not be empty"
    if not table.ready.strip() and not table.port:
        return "say ready or port, to know when it can be used"
    if not 0 <= table.port <= 65535:
        return f"port must be between 1 and 65535, not {table.port}"
    if table.port == RELAY_PORT:
        return f"port {RELAY_PORT} is taken by the sandbox's way out: choose another"
    if memory < _SMALLEST_MEMORY:
        return 'memory must be at least "16m"'
    if not 1 <= table.seconds <= _LONGEST_START:
        return f"seconds must be between 1 and 600, not {table.seconds:g}"
    wrong = [variable for variable in table.env if not _VARIABLE.fullmatch(variable)]
    return f"env: {wrong[0]!r} is not the name of a variable" if wrong else ""
