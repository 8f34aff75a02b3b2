"""Commands over one connection that stays: a command costs no exec, and no start of Python."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from mmap import mmap
from typing import cast

from sandbox.channel import NOTHING, WORKSPACE, Chunk, Output, Watched
from sandbox.connection import Connection, Conversation
from sandbox.container import death, lost
from sandbox.engine import Engine
from sandbox.errors import SandboxError, SandboxLostError
from sandbox.exec import (
    ABORT,
    ATTEMPTS,
    CANNOT_START,
    DRAIN,
    PAUSE,
    PROGRAM,
    REFUSAL,
    ExecChannel,
    losing,
    refuse,
)
from sandbox.frames import CALL, KILLED, SIGNALLED, START, STOPPED, TIMED_OUT, WINDOW
from sandbox.hardening import TOOLBOX, USER
from sandbox.pipe import Pipe
from sandbox.signals import Signals
from sandbox.stream import Exit

SERVER = (*PROGRAM, "inside.channel")
GRACE = 5.0
"""Seconds by which the server may be late before everything in the sandbox is killed."""
HELLO_SECONDS = 30.0
"""The server needs 0.1 s to start; much longer when the machine is very busy."""
STOPPING = 4.0
"""Seconds that the server gets to end an abandoned command; it may need two for a fork bomb."""
SENDING = 1.0
"""Seconds for the server to take a signal; one that does not is ended, and its commands with it."""
ENDED_ELSEWHERE = b"[all processes of the sandbox were ended, this command among them]\n"
STATUS = {TIMED_OUT: 124, STOPPED: 143, KILLED: 137}


class FramedChannel:
    """The Channel that keeps a server of ours in the sandbox and talks to it.

    Opened at the first command. A server that somebody killed, as any process of the working user
    can, takes all running commands along; the next command finds another one.
    """

    def __init__(self, engine: Engine, container: str, user: str = USER) -> None:
        self._api = engine.client.api
        self._container = container
        self._user = user
        self._exec = ExecChannel(engine, container, user)
        self._opening = threading.RLock()
        self._connection: Connection | None = None
        self._clean = True
        self._quiet = False
        self._under_way: set[object] = set()

    @property
    def quiet(self) -> bool:
        """Whether everything was killed, and nothing but our own programs was started since."""
        return self._quiet and not self._under_way

    def start(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | mmap | Pipe = b"",
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
    ) -> Output:
        """Run a command, see `Channel.start`."""
        watched = self.watch(command, None, stdin=stdin, cwd=cwd, env=env, seconds=seconds)
        return cast(Output, watched)

    def watch(
        self,
        command: Sequence[str],
        ready: Callable[[], None] | None,
        *,
        stdin: bytes | mmap | Pipe = b"",
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
        signals: Signals | None = None,
    ) -> Watched:
        """Run a command as `start` does; with `ready` nothing is waited for.

        It is called in another thread, for each piece that has come and for the end; after each
        piece, and where there is none, stands None. `signals` lead to the command.
        """
        if refusal := refuse(command, env):
            yield Chunk("stderr", refusal)
            yield Exit(CANNOT_START, 0.0, size=len(refusal))
            return
        job = [list(command), "", cwd, dict(env), seconds]
        yield from self._carried_out(job, stdin, seconds, ready, signals)

    def call(
        self, program: str, *arguments: str, stdin: bytes | mmap = b"", seconds: float = 120.0
    ) -> Output:
        """Run one of our programs, see `Channel.call`: a sub-reaper has it loaded already."""
        job = [list(arguments), program, "/", {}, seconds]
        return cast(Output, self._carried_out(job, stdin, seconds))

    def sweep(self) -> None:
        """Kill every process, see `Channel.sweep`; the server is one of them."""
        with self._opening:
            self._hang_up()
            self._exec.sweep()
            self._clean = self._quiet = True

    @contextlib.contextmanager
    def disturbing(self) -> Iterator[None]:
        """While a command is under way, whoever runs it: it may start after any sweep meanwhile."""
        one = object()
        self._under_way.add(one)
        try:
            yield
        finally:
            self._quiet = False
            self._under_way.discard(one)

    def distrust(self) -> None:
        """Something else has run commands: sweep before the server starts.

        Until it is shielded, some milliseconds after its start, another process of its user could
        open its pipes and keep them.
        """
        self._clean = self._quiet = False

    def close(self) -> None:
        """Hang up; what runs is ended."""
        with self._opening:
            self._hang_up()

    def _carried_out(
        self,
        job: list[object],
        stdin: bytes | mmap | Pipe,
        seconds: float,
        ready: Callable[[], None] | None = None,
        signals: Signals | None = None,
    ) -> Watched:
        began = time.monotonic()
        deadline = began + seconds + GRACE
        kind = CALL if job[1] else START
        asked = json.dumps(job).encode()
        connection, talk = self._begun(kind, asked, Pipe.of(stdin), ready, deadline)
        if signals:
            signals.lead(lambda signal: connection.signal(talk, signal, SENDING))
        size = 0
        with self._attended(connection, talk):
            for chunk in _output(connection, talk, deadline, ready is None):
                size += len(chunk.data) if chunk else 0
                yield chunk
            late = not talk.over
            if not talk.done:
                self._recover(connection)
                if not late:
                    size += len(ENDED_ELSEWHERE)
                    yield Chunk("stderr", ENDED_ELSEWHERE)
        how, value = talk.ending or ((TIMED_OUT, 0) if late else (KILLED, 0))
        took = (talk.ended or time.monotonic()) - began
        status = 128 + value if how == SIGNALLED else STATUS.get(how, value)
        yield Exit(status, took, timed_out=how == TIMED_OUT, size=size)

    def _begun(
        self,
        kind: int,
        job: bytes,
        stdin: Pipe,
        ready: Callable[[], None] | None,
        deadline: float,
    ) -> tuple[Connection, Conversation]:
        while True:
            connection = self._connected(kind)
            if talk := connection.begin(kind, job, stdin, ready, deadline):
                return connection, talk

    @contextlib.contextmanager
    def _attended(self, connection: Connection, talk: Conversation) -> Iterator[None]:
        """End the command when its consumer goes away (GeneratorExit, Ctrl-C)."""
        try:
            yield
        except SandboxError:
            raise
        except BaseException:
            with contextlib.suppress(SandboxError):
                if not connection.stop(talk, STOPPING):
                    self._recover(connection)
            raise
        finally:
            connection.forget(talk)

    def _connected(self, kind: int) -> Connection:
        with self._opening:
            if self._connection and self._connection.over:
                self._recover(self._connection)
            if self._connection is None:
                if not self._clean:
                    self._exec.sweep()
                self._connection = self._open()
                self._clean = False
            self._quiet = self._quiet and kind == CALL
            return self._connection

    def _open(self) -> Connection:
        request = {"cmd": SERVER, "user": self._user, "workdir": TOOLBOX, "environment": {}}
        for _ in range(ATTEMPTS):
            with losing(self._api, self._container):
                connection = Connection(self._api, self._container, request)
            if connection.greeted(HELLO_SECONDS):
                return connection
            connection.close()
            if not any(said in connection.complaint for said in (REFUSAL, ABORT)):
                break
            time.sleep(PAUSE)
        if dead := death(self._api, self._container):
            raise dead
        said = connection.complaint.decode("utf-8", "replace").strip() or "it said nothing"
        raise SandboxLostError(
            f"The command channel of the sandbox did not start ({said}): start the run again."
        )

    def _recover(self, connection: Connection) -> None:
        """End everything after a connection that broke or does not answer, so that another can be.

        Raises SandboxLostError when the container is dead, CrossingError after a malformed frame.
        """
        with self._opening:
            if self._connection is connection:
                self._connection = None
                connection.close()
                connection.lost = lost(self._api, self._container)
                if not connection.lost:
                    self._exec.sweep()
                    self._clean = True
        if connection.lost:
            raise connection.lost
        if connection.malformed:
            raise connection.malformed

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close()


def _output(
    connection: Connection, talk: Conversation, deadline: float, patient: bool
) -> Iterator[Chunk | None]:
    """What comes, until all has or the server is late: it reports an end without any delay."""
    taken = 0
    while True:
        if not patient:
            yield None
        waiting, over = talk.ending is None, talk.over
        until = deadline if waiting else time.monotonic() + DRAIN
        chunk = talk.take(until if patient else 0.0)
        if chunk is None:
            if waiting and talk.ending and not talk.over:
                continue
            if not patient and not over and time.monotonic() < until:
                continue
            return
        yield chunk
        taken += len(chunk.data)
        if taken >= WINDOW // 4:
            connection.give_room(talk, taken, time.monotonic() + DRAIN)
            taken = 0
