"""The process above a command: starts it, waits for it, and ends whatever it started.

It is the sub-reaper of the command: what daemonises with setsid or a double fork becomes its child,
so none gets away at the time limit. Processes left by a command that ended by itself stay, as the
init process's children, for then this process ends. It is a fork of the server, takes a job from
its socket, and tells there what came of it:

    started             the command runs
    crowded             no process is left to start it with: the server has to make room
    exited N, signalled N, refused N, timed_out, stopped
    memory JSON         what `inside.snapshot` wants to find again next time
    overrun             it could not be ended one by one: the server has to end everything
    free                nothing is left of it: the next job may come

A process of the same user can send it signals. They end no command and none that comes later: a
signal only wakes it, and what the server wants stands on the line.
"""

import array
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from . import files, snapshot
from .wire import LINE as HEADER

PROGRAMS: dict[str, Callable[[list[str]], int]] = {"files": files.main, "snapshot": snapshot.main}
"""Our own, which need no start of Python."""

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
FIRST_TO_GO = b"500"
"""Added to the score by which the kernel chooses whom to kill when memory runs out (-1000..1000):
a command goes before the server."""
PATIENCE = 2.0
"""Seconds to kill process by process, before everything of this user goes."""
WATCHED = (signal.SIGCHLD, signal.SIGTERM)
STOP_WANTED = 0
"""What the server writes on the line to have a command ended; other bytes are signals for it."""

OWN = dict(os.environ)

prctl = ctypes.CDLL(None).prctl


class Job(NamedTuple):
    """A command, or one of our programs with its arguments."""

    memory: dict[str, object]

    command: list[str]
    program: str
    folder: str
    env: dict[str, str]
    seconds: float


def shield() -> None:
    """Keep processes of the same user from reading or steering this one through /proc or ptrace.

    Children inherit it, until they start another program.
    """
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def serve(line: socket.socket, server: int) -> NoReturn:
    """Carry out the jobs that come, until one leaves something behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() == server:
        while (job := received(line)) and carried_out(job, line):
            tell(line, "free")
    os._exit(0)


def tell(line: socket.socket, said: str) -> None:
    line.sendall(said.encode() + b"\n")


def received(line: socket.socket) -> Job | None:
    """The job, its pipes as our own streams; None when the server went away before it had one."""
    space = socket.CMSG_SPACE(3 * array.array("i").itemsize)
    data, rights, _, _ = line.recvmsg(HEADER.size, space, socket.MSG_WAITALL)
    if len(data) < HEADER.size:  # a wish to stop a job that has ended may have come
        return None
    pipes = array.array("i")
    pipes.frombytes(rights[0][2])
    for number, fd in enumerate(pipes):
        os.dup2(fd, number)
        os.close(fd)
    job, memory = (all_of(line, size) for size in HEADER.unpack(data))
    return Job(json.loads(memory or b"{}"), *json.loads(job)) if job else None


def all_of(line: socket.socket, size: int) -> bytes:
    """So many bytes; none when the server went away."""
    pieces = []
    while size:
        pieces.append(line.recv(min(size, 1 << 20)))
        size -= len(pieces[-1])
        if not pieces[-1]:
            return b""
    return b"".join(pieces)


def carried_out(job: Job, line: socket.socket) -> bool:
    """Carry out one job; whether this process can take another."""
    deadline = time.monotonic() + job.seconds
    if job.program:
        tell(line, "started")
        perform(job, line, deadline)
        return False
    try:
        child = launch(job)
    except BlockingIOError:
        tell(line, "crowded")
        return False
    except (OSError, ValueError) as problem:
        tell(line, refuse(job.command[0], problem))
        release()
        return True
    release()
    tell(line, "started")
    ended = wait(child, deadline, line)
    if isinstance(ended, int):
        code = os.waitstatus_to_exitcode(ended)
        tell(line, f"exited {code}" if code >= 0 else f"signalled {-code}")
        return not has_children()
    tell(line, ended)
    if end_descendants():
        return True
    tell(line, "overrun")
    return False


def release() -> None:
    """Let go of the command's pipes: their other end shows when nobody else holds them."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)


def launch(job: Job) -> int:
    """Start the command in a session of its own, with the signal settings a shell would give it.

    Python ignores SIGPIPE and SIGXFSZ, and what is ignored stays so in children.
    """
    os.chdir(os.path.join("/", job.folder))
    own = {**environment(), **job.env}
    os.environ["PATH"] = own.get("PATH", os.defpath)  # where the C library looks for the command
    child = os.posix_spawnp(
        job.command[0],
        job.command,
        own,
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )
    expose(child)
    return child


def perform(job: Job, line: socket.socket, deadline: float) -> NoReturn:
    """Run one of our programs in this process, which has it loaded already."""

    def end(_number: int, _frame: object) -> None:
        late = time.monotonic() >= deadline
        if not (late or wish(line) == STOP_WANTED):
            return
        tell(line, "timed_out" if late else "stopped")
        if not end_descendants():
            tell(line, "overrun")
        os._exit(0)

    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, end)
    signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), 0.001))
    # No other signal: one that an earlier command sent may be waiting here.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM, signal.SIGTERM))
    gc.enable()
    os.umask(0o022)
    status = 1
    snapshot.memory.update(job.memory)
    try:
        status = PROGRAMS[job.program](job.command)
        sys.stdout.flush()
        if job.program == "snapshot":
            tell(line, f"memory {json.dumps(snapshot.memory, separators=(',', ':'))}")
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    tell(line, f"exited {status}")
    os._exit(0)


def expose(child: int) -> None:
    try:
        with open(f"/proc/{child}/oom_score_adj", "wb", buffering=0) as file:
            file.write(FIRST_TO_GO)
    except OSError:
        return  # it has ended, or may not be looked at


def environment() -> dict[str, str]:
    """The server's own, with the image's LD_PRELOAD, which the toolbox's Python had to put by."""
    own = dict(OWN)
    if preload := own.pop("ORCHESTRATOR_LD_PRELOAD", ""):
        own["LD_PRELOAD"] = preload
    return own


def refuse(name: str, problem: Exception) -> str:
    """Say why nothing could be started; 127 and 126 are what a shell would exit with."""
    reason = getattr(problem, "strerror", None) or str(problem)
    place = getattr(problem, "filename", None) or name
    os.write(2, os.fsencode(f"{place}: {reason}\n"))
    return f"refused {127 if isinstance(problem, FileNotFoundError) else 126}"


def wish(line: socket.socket) -> int | None:
    """What the server wants next, if anything; who is gone wants an end."""
    try:
        said = line.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:
        return STOP_WANTED
    return said[0] if said else STOP_WANTED


def wait(child: int, deadline: float, line: socket.socket) -> int | str:
    """The child's wait status; `timed_out` or `stopped` when it has to be ended."""
    while True:
        for pid, status in ended():
            if pid == child:
                return status
        left = deadline - time.monotonic()
        if left <= 0:
            return "timed_out"
        wanted = wish(line)
        if wanted == STOP_WANTED:
            return "stopped"
        if wanted:
            kill(-child, wanted)  # its group: as long as it is not reaped, nobody else's
            continue
        signal.sigtimedwait(WATCHED, left)


def ended() -> list[tuple[int, int]]:
    """Each child that ended since the last call, with its wait status."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found.append((pid, status))


def end_descendants() -> bool:
    """Kill what descends from this process until nothing does; False when that cannot be done.

    A fork bomb can outrun a walk through /proc; one kill(-1) is atomic in the kernel, but it takes
    everything of this user except the caller, who therefore has to be the server.
    """
    patience = time.monotonic() + PATIENCE
    while has_children():
        if time.monotonic() > patience:
            return False
        for pid in descendants(os.getpid()):
            kill(pid)
        signal.sigtimedwait(WATCHED, 0.05)
        ended()
    return True


def has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return  # ended meanwhile, or not this user's


def descendants(ancestor: int) -> list[int]:
    """Every process below `ancestor`, parents first."""
    children: dict[int, list[int]] = {}
    for pid in processes():
        children.setdefault(parent(pid), []).append(pid)
    found = list(children.get(ancestor, ()))
    for pid in found:  # grows while it is walked
        found.extend(children.get(pid, ()))
    return found


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name, in brackets, may itself hold brackets and spaces.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0
