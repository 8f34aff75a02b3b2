"""The process above one command: starts it, waits for it, and ends whatever it started.

It is the sub-reaper of the command: what daemonises with setsid or a double fork becomes its child,
so none gets away at the time limit. Processes left by a command that ended by itself stay. It is a
fork of the server, waits for its job in a pipe, and tells in another what came of it:

    started             the command runs
    crowded             no process is left to start it with: the server has to make room
    exited N, signalled N, refused N, timed_out, stopped
    overrun             it could not be ended one by one: the server has to end everything
"""

import ctypes
import gc
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from . import files, snapshot

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

prctl = ctypes.CDLL(None).prctl


class Job(NamedTuple):
    """A command, or one of our programs with its arguments."""

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


def serve(orders: int, answers: int, server: int) -> NoReturn:
    """Carry out the one job that comes, and end."""
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() == server and (job := received(orders)):
        said = carried_out(job, answers)
        os.write(answers, said.encode())
    os._exit(0)


def received(orders: int) -> Job | None:
    """The job; None when the server went away before it had one."""
    pieces = []
    while piece := os.read(orders, 1 << 20):
        pieces.append(piece)
    return Job(*json.loads(b"".join(pieces))) if pieces else None


def carried_out(job: Job, answers: int) -> str:
    deadline = time.monotonic() + job.seconds
    try:
        child = launch(job, answers)
    except BlockingIOError:
        return "crowded\n"
    except (OSError, ValueError) as problem:
        return refuse(job.command[0], problem)
    os.write(answers, b"started\n")
    ended = wait(child, deadline)
    if isinstance(ended, int):
        code = os.waitstatus_to_exitcode(ended)
        return f"exited {code}\n" if code >= 0 else f"signalled {-code}\n"
    os.write(answers, f"{ended}\n".encode())
    return end_descendants()


def launch(job: Job, answers: int) -> int:
    """Start the command in a session of its own, with the signal settings a shell would give it.

    Python ignores SIGPIPE and SIGXFSZ, and what is ignored stays so in children.
    """
    if job.program:
        return fork(job)
    os.chdir(job.folder)
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


def fork(job: Job) -> int:
    """Run one of our programs in a process that has it loaded already."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(0o022)
        gc.enable()
        status = PROGRAMS[job.program](job.command)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(status)


def expose(child: int) -> None:
    try:
        with open(f"/proc/{child}/oom_score_adj", "wb", buffering=0) as file:
            file.write(FIRST_TO_GO)
    except OSError:
        return  # it has ended, or may not be looked at


def environment() -> dict[str, str]:
    """This process's own, with the image's LD_PRELOAD, which the toolbox's Python had to put by."""
    own = dict(os.environ)
    if preload := own.pop("ORCHESTRATOR_LD_PRELOAD", ""):
        own["LD_PRELOAD"] = preload
    return own


def refuse(name: str, problem: Exception) -> str:
    """Say why nothing could be started; 127 and 126 are what a shell would exit with."""
    reason = getattr(problem, "strerror", None) or str(problem)
    place = getattr(problem, "filename", None) or name
    os.write(2, os.fsencode(f"{place}: {reason}\n"))
    return f"refused {127 if isinstance(problem, FileNotFoundError) else 126}\n"


def wait(child: int, deadline: float) -> int | str:
    """The child's wait status; `timed_out` or `stopped` when it has to be ended."""
    while True:
        for pid, status in ended():
            if pid == child:
                return status
        left = deadline - time.monotonic()
        if left <= 0:
            return "timed_out"
        happened = signal.sigtimedwait(WATCHED, left)
        if happened is not None and happened.si_signo == signal.SIGTERM:
            return "stopped"


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


def end_descendants() -> str:
    """Kill what descends from this process until nothing does; what to tell of it.

    A fork bomb can outrun a walk through /proc; one kill(-1) is atomic in the kernel, but it takes
    everything of this user except the caller, who therefore has to be the server.
    """
    patience = time.monotonic() + PATIENCE
    while has_children():
        if time.monotonic() > patience:
            return "overrun\n"
        for pid in descendants(os.getpid()):
            kill(pid)
        signal.sigtimedwait(WATCHED, 0.05)
        ended()
    return ""


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
