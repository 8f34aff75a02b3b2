"""The interactive sessions of one sandbox."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from sandbox.channel import NOTHING, WORKSPACE
from sandbox.engine import Engine
from sandbox.exec import refuse
from sandbox.terminal import IDLE, Request, Terminal, TerminalError, check_size

MOST = 4
"""Sessions of one sandbox that run at the same time."""
ROWS, COLUMNS = 24, 80


class Terminals:
    """The sessions of one sandbox, by numbers that are never given twice."""

    def __init__(
        self,
        engine: Engine,
        container: str,
        environment: Mapping[str, str],
        disturbing: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """`disturbing` is entered while a program is being started."""
        self._engine = engine
        self._container = container
        self._environment = environment
        self._disturbing = disturbing
        self._sessions: dict[int, Terminal] = {}
        self._count = 0

    def open(
        self,
        command: Sequence[str],
        *,
        rows: int = ROWS,
        columns: int = COLUMNS,
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        idle: float = IDLE,
    ) -> Terminal:
        """Start a program on a terminal of its own; after `idle` seconds without use it is closed.

        Raises TerminalError when too many run or the arguments cannot be given to a program,
        SandboxLostError when the container died. A program that cannot be started has ended with
        127 or 126, and says so on its screen.
        """
        check_size(rows, columns)
        if refusal := refuse(command, env):
            raise TerminalError(refusal.decode().strip())
        for number in [number for number, each in self._sessions.items() if each.ended]:
            self._sessions.pop(number).close()
        if len(self._sessions) >= MOST:
            numbers = ", ".join(map(str, self._sessions))
            raise TerminalError(f"{MOST} sessions are open ({numbers}): close one first")
        self._count += 1
        variables = {**self._environment, **env}
        request = Request(tuple(command), rows, columns, cwd, variables, idle)
        with self._disturbing():
            opened = Terminal(self._engine, self._container, self._count, request)
        self._sessions[self._count] = opened
        return opened

    def get(self, number: int | None = None) -> Terminal:
        """A session by its number; by none, the only one there is. Raises TerminalError."""
        if number is None and len(self._sessions) == 1:
            return next(iter(self._sessions.values()))
        if number in self._sessions:
            return self._sessions[number]
        if not self._sessions:
            raise TerminalError("there is no session; open one first")
        known = ", ".join(map(str, self._sessions))
        wanted = "say which session" if number is None else f"there is no session {number}"
        raise TerminalError(f"{wanted}; open: {known}")

    def forget(self, number: int) -> None:
        """Close a session; it is not to be had any more."""
        self._sessions.pop(number).close()

    def leave(self) -> None:
        """Let go of all sessions, whose programs end with the sandbox."""
        for each in self._sessions.values():
            each.leave()
        self._sessions.clear()
