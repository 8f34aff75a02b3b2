"""Commands by the engine's own exec, one each: slower than a kept channel, and never forged."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

from sandbox.attach import Attached, Frames
from sandbox.channel import NOTHING, WORKSPACE, Chunk, Output
from sandbox.container import death
from sandbox.engine import Engine
from sandbox.errors import SandboxLostError
from sandbox.hardening import BUSYBOX, TOOLBOX, USER
from sandbox.pipe import Pipe
from sandbox.stream import Exit

PROGRAM = (f"{TOOLBOX}/bin/python", "-E", "-s", "-S", "-m")
"""Run from the toolbox's folder; like -I, but `inside` can be imported from there."""
DRAIN = 5.0
"""Seconds that a connection may stay silent after everything was killed."""
SWEEPING = 30.0
"""Seconds that the engine gets to kill everything; on a busy machine it may need some."""
ARGUMENT = 128 * 1024
"""Bytes of the longest argument that Linux takes (MAX_ARG_STRLEN). With more, runc 1.1.5 hangs, and
with it the removal of the container."""
ARGUMENTS = 1 << 20
"""Bytes of all arguments and variables; Linux refuses 2 MiB with the usual stack limit."""
ATTEMPTS = 10
PAUSE = 0.05
"""Tries to start a process, and seconds between them. With all processes of the limits taken, one
in ten tries fails in runc 1.1.5, before the command or a sweep has had its chance."""
REFUSAL = b"OCI runtime exec failed"
ABORT = b"runtime/cgo: "
"""The first words of runc where it gets no thread in the sandbox, a moment before it becomes the
command; it ends with ABORTED. With all processes taken, one in 300 tries on a busy machine."""
ABORTING = 1.0
"""Seconds for that end. A command with the same first words and status that takes no longer cannot
be told from it, and so is run once more, but only once: what failed must not be tried until it
succeeds."""
CANNOT_START, TIMED_OUT, KILLED, ABORTED = 126, 124, 137, 2
GONE = (DockerException, RequestException, OSError)
"""What docker-py raises when the engine or the container is not there any more."""


class _NotStartedError(Exception):
    """The engine could not start a process; nothing has happened yet."""


class _AbortedError(_NotStartedError):
    """It says so in words that a command may have said, too."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A command as it is given to the engine."""

    request: dict[str, Any]
    stdin: bytes | mmap | Pipe
    seconds: float
    began: float


class ExecChannel:
    """The Channel that starts an engine exec for each command.

    To end a command it sweeps, for the engine can end nothing but the whole container. A process
    left behind that holds the output open delays the Exit by 2 s, and dies at its next line.
    """

    def __init__(
        self,
        engine: Engine,
        container: str,
        user: str = USER,
        end_all: Callable[[], None] | None = None,
    ) -> None:
        self._api = engine.client.api
        self._container = container
        self._user = user
        self._end_all = end_all or self.sweep
        """Whoever keeps a server in the same sandbox has to know that it was ended, too."""

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
        if refusal := refuse(command, env):
            yield Chunk("stderr", refusal)
            yield Exit(CANNOT_START, 0.0, size=len(refusal))
            return
        request = {
            "cmd": list(command),
            "user": self._user,
            "workdir": cwd,
            "environment": dict(env),
        }
        job = _Job(request, stdin, seconds, time.monotonic())
        # What was taken out of a pipe cannot be said once more.
        for _ in range(0 if isinstance(stdin, Pipe) else ATTEMPTS - 1):
            try:
                return (yield from self._carried_out(job, retried=True))
            except _NotStartedError as error:
                time.sleep(PAUSE)
                if isinstance(error, _AbortedError):
                    break
        yield from self._carried_out(job, retried=False)

    def call(
        self, program: str, *arguments: str, stdin: bytes | mmap = b"", seconds: float = 120.0
    ) -> Output:
        """Run one of our programs, see `Channel.call`."""
        command = [*PROGRAM, f"inside.{program}", *arguments]
        return self.start(command, stdin=stdin, cwd=TOOLBOX, seconds=seconds)

    def sweep(self) -> None:
        """Kill every process of the working user, daemons and a live fork bomb included.

        Raises SandboxLostError when the container does not answer.
        """
        with losing(self._api, self._container):
            ended = self._finish([BUSYBOX, "kill", "-9", "-1"], SWEEPING)
        if not ended:  # it may yet come, and would end what runs by then
            raise SandboxLostError(
                f"The processes of the sandbox could not be ended within {SWEEPING:g} seconds: "
                "start the run again."
            )

    def _carried_out(self, job: _Job, *, retried: bool) -> Output:
        """One attempt. Raises _NotStartedError when it came to nothing and will be `retried`."""
        deadline = job.began + job.seconds
        with self._running(job) as running:
            size = 0
            for chunk in self._output(running, deadline):
                if retried and not size:
                    self._look_for_refusal(running.id, chunk)
                size += len(chunk.data)
                yield chunk
        yield self._exit(running.id, time.monotonic() - job.began, job.seconds, size)

    def _look_for_refusal(self, running: str, first: Chunk) -> None:
        """Raise _NotStartedError when the first output is the engine's own, and says that.

        It does so now and then while all processes that the limits allow are taken.
        """
        with losing(self._api, self._container):
            if first.data.startswith(REFUSAL) and not self._inspect(running)["Pid"]:
                raise _NotStartedError
            said = first.stream == "stderr" and first.data.startswith(ABORT)
            if said and self._await(running, ABORTING) == ABORTED:
                raise _AbortedError

    @contextlib.contextmanager
    def _running(self, job: _Job) -> Iterator[Attached]:
        with losing(self._api, self._container):
            running = Attached(self._api, self._container, job.request, Pipe.of(job.stdin))
        try:
            yield running
        except _NotStartedError:
            running.close()
            raise
        except BaseException:
            # The consumer went away (GeneratorExit, Ctrl-C): what it started must not go on.
            # Closed first: output that nobody reads would hold up the news of its end.
            running.close()
            with contextlib.suppress(SandboxLostError):
                self._end_all()
            raise
        running.close()

    def _output(self, running: Attached, deadline: float) -> Iterator[Chunk]:
        frames = Frames()
        swept = False
        while True:
            if not swept and time.monotonic() >= deadline:
                self._overrun(running.id)
                swept = True
            with losing(self._api, self._container):
                data = running.read(DRAIN if swept else deadline - time.monotonic())
            if data:
                yield from frames.feed(data)
            elif data is not None:
                return
            elif swept:
                raise SandboxLostError(
                    "A command in the sandbox could not be killed: start the run again."
                )

    def _overrun(self, running: str) -> None:
        """Kill everything, unless the command has ended and only its output was read late."""
        with losing(self._api, self._container):
            if self._inspect(running)["Running"]:
                self._end_all()

    def _exit(self, running: str, took: float, seconds: float, size: int) -> Exit:
        with losing(self._api, self._container):
            status = self._await(running, DRAIN)
        # 126: "cannot exec in a stopped state"
        if status in (None, KILLED, CANNOT_START) and (dead := death(self._api, self._container)):
            raise dead
        if status is None:
            raise SandboxLostError("The engine lost track of a command: start the run again.")
        timed_out = took >= seconds and status in (TIMED_OUT, KILLED)
        return Exit(TIMED_OUT if timed_out else status, took, timed_out=timed_out, size=size)

    def _finish(self, command: list[str], seconds: float) -> bool:
        """Run something of ours, nobody reads what it prints; whether it ended within this time."""
        for left in reversed(range(ATTEMPTS)):
            created = self._api.exec_create(self._container, command, user=self._user, workdir="/")
            try:
                self._api.exec_start(created["Id"], detach=True)
            except APIError as error:
                if not (left and error.is_server_error()):
                    raise
            else:
                status = self._await(created["Id"], seconds)
                if status != ABORTED:
                    return status is not None
            time.sleep(PAUSE)
        return False

    def _await(self, started: str, seconds: float) -> int | None:
        """The exit status that the engine saw; None when it still runs after so many seconds."""
        deadline = time.monotonic() + seconds
        pause = 0.002
        while (facts := self._inspect(started))["Running"]:
            if time.monotonic() >= deadline:
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        code = facts["ExitCode"]
        return None if code is None else int(code)

    def _inspect(self, started: str) -> dict[str, Any]:
        found: dict[str, Any] = self._api.exec_inspect(started)
        return found


@contextlib.contextmanager
def losing(api: APIClient, container: str) -> Iterator[None]:
    """Tell a container or engine that went away from everything else."""
    try:
        yield
    except GONE as error:
        refused = f"The sandbox runs, but the engine refused a command: {error}"
        raise death(api, container) or SandboxLostError(refused) from error


def refuse(command: Sequence[str], env: Mapping[str, str]) -> bytes:
    """Why these arguments cannot be given to a program; empty when they can."""
    texts = [*command, *(f"{name}={value}" for name, value in env.items())]
    try:
        raw = [text.encode() + b"\0" for text in texts]
    except UnicodeEncodeError:  # the Engine API is JSON and would put U+FFFD in its place
        return b"arguments must be UTF-8: give other bytes on stdin or in a file\n"
    if any(b"\0" in text[:-1] for text in raw):
        return b"arguments cannot hold NUL bytes: give them on stdin or in a file\n"
    sizes = [len(text) for text in raw]
    if max(sizes, default=0) > ARGUMENT or sum(sizes) > ARGUMENTS:
        return b"argument list too long: give large input on stdin or in a file\n"
    return b""
