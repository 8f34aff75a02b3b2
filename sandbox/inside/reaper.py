"""Run one command; at its time limit, or when told to stop, end every process it started.

    python -I -S reaper.py TOKEN SECONDS FOLDER COMMAND [ARGUMENT...]
    python -I -S reaper.py --stop TOKEN

Exits with the command's status, 128 + N after signal N, 124 at the time limit. It is the sub-reaper
of the command: what daemonises with setsid or a double fork becomes its child, so none gets away.
Processes left by a command that ended by itself stay, and may go on printing: the command's output
passes through pipes of ours, and what comes into them later is read and thrown away. With the
engine's own pipes such a process would die at its next line, and the exec would end 2 s late.
Runs under the toolbox's Python alone.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from typing import NamedTuple

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
TIMED_OUT = 124
PIECE = 1 << 16
MOST = 1 << 20
"""Bytes that a pipe can be made to hold."""
DISCARD = ("/opt/orchestrator/bin/busybox", "cat")
ATTEMPTS = 20
PAUSE = 0.05
CLEARED = b"[the limit of processes was reached: all other processes were ended]\n"
PATIENCE = 2.0
"""Seconds to kill process by process, before everything of this user goes."""
LAST_WORDS = 1.0
"""Seconds for the output of a command that was ended."""
WATCHED = (signal.SIGCHLD, signal.SIGTERM)


def main(arguments: list[str]) -> int:
    if arguments[0] == "--stop":
        return stop(arguments[1])
    _token, seconds, folder, *command = arguments
    shield()
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    deadline = time.monotonic() + float(seconds)
    try:
        os.chdir(folder)
        child, streams = launch(command)
    except (OSError, ValueError, RuntimeError) as problem:
        return refuse(command[0], problem)
    status = wait(child, deadline)
    if status is None:
        end_descendants()
        status, deadline = TIMED_OUT, time.monotonic() + LAST_WORDS
    if finished(streams, deadline):
        return status
    end_descendants()
    return TIMED_OUT


class Carrier(threading.Thread):
    """Carries one stream from the command's pipe to this process's own."""

    def __init__(self, target: int) -> None:
        super().__init__(daemon=True)
        self.target = target
        self.source, self.entrance = os.pipe()
        self.until, self.ending = os.pipe()

    def run(self) -> None:
        poll = select.poll()
        # In this order: if the end is seen first, then the pipe holds all that was still said.
        poll.register(self.until, select.POLLIN)
        poll.register(self.source, select.POLLIN)
        last = False
        while not last:
            ready = dict(poll.poll())
            last = self.until in ready
            if self.source in ready:
                data = os.read(self.source, MOST if last else PIECE)
                write(self.target, data)
                last = last or not data

    def finish(self) -> None:
        """Carry what is there, then end, even if other processes still hold the pipe open."""
        os.close(self.ending)

    def abandoned(self) -> bool:
        """Whether a process can still print."""
        poll = select.poll()
        poll.register(self.source, 0)
        return not poll.poll(0)


def write(target: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        while data:
            data = data[os.write(target, data) :]


def finished(streams: tuple[Carrier, ...], deadline: float) -> bool:
    """Let the streams end; False when they cannot before the deadline or a stop was asked for."""
    for stream in streams:
        stream.finish()
    for stream in streams:
        while stream.is_alive():
            stream.join(0.01)
            if time.monotonic() > deadline or signal.SIGTERM in signal.sigpending():
                return False
        if stream.abandoned():
            discard(stream.source)
    return True


def discard(source: int) -> None:
    """Leave a small program behind that reads the pipe as long as somebody prints into it."""
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, source, 0)]
    actions += [(os.POSIX_SPAWN_DUP2, null, number) for number in (1, 2)]
    try:
        os.posix_spawn(DISCARD[0], DISCARD, {}, file_actions=actions, setsid=True, setsigmask=())
    except OSError as problem:  # no process to spare
        write(2, os.fsencode(f"background output is lost: {problem.strerror}\n"))


def shield() -> None:
    """Keep processes of the same user from reading or steering this one through /proc or ptrace."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Launched(NamedTuple):
    child: int
    streams: tuple[Carrier, ...]


def launch(command: list[str]) -> Launched:
    """Start the command; when no process is left to start it with, those in the way have to go."""
    for _ in range(ATTEMPTS):
        try:
            return start(command)
        except (BlockingIOError, RuntimeError):  # as fork and thread report the limit
            kill(-1)
            write(2, CLEARED)
            time.sleep(PAUSE)
    return start(command)


def start(command: list[str]) -> Launched:
    """Start the command in a session of its own, with the signal settings a shell would give it.

    Python ignores SIGPIPE and SIGXFSZ, and what is ignored stays so in children.
    """
    streams = (Carrier(1), Carrier(2))
    for stream in streams:
        stream.start()
    child = os.posix_spawnp(
        command[0],
        command,
        environment(),
        file_actions=[(os.POSIX_SPAWN_DUP2, s.entrance, s.target) for s in streams],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )
    for stream in streams:
        os.close(stream.entrance)
    return Launched(child, streams)


def environment() -> dict[str, str]:
    """This process's own, with the image's LD_PRELOAD, which the toolbox's Python had to put by."""
    own = dict(os.environ)
    if preload := own.pop("ORCHESTRATOR_LD_PRELOAD", ""):
        own["LD_PRELOAD"] = preload
    return own


def refuse(name: str, problem: Exception) -> int:
    """Say why nothing could be started; 127 and 126 are what a shell would exit with."""
    reason = getattr(problem, "strerror", None) or str(problem)
    place = getattr(problem, "filename", None) or name
    os.write(2, os.fsencode(f"{place}: {reason}\n"))
    return 127 if isinstance(problem, FileNotFoundError) else 126


def wait(child: int, deadline: float) -> int | None:
    """The child's exit status; None when its time is up or a stop was asked for."""
    while True:
        for pid, status in ended():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        happened = signal.sigtimedwait(WATCHED, left)
        if happened is not None and happened.si_signo == signal.SIGTERM:
            return None


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


def end_descendants() -> None:
    """Kill what descends from this process until nothing does.

    A fork bomb can outrun a walk through /proc; one kill(-1) is atomic in the kernel, and takes
    everything of this user but the caller.
    """
    patience = time.monotonic() + PATIENCE
    while has_children():
        if time.monotonic() > patience:
            kill(-1)
        for pid in descendants(os.getpid()):
            kill(pid)
        signal.sigtimedwait(WATCHED, 0.05)
        ended()


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


def stop(token: str) -> int:
    """Ask the command started with this token to end; what carries no such token is not touched."""
    needle = b"\0" + os.fsencode(token) + b"\0"
    for pid in processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read(65536)
        except OSError:
            continue
        if needle in line and pid != os.getpid():
            kill(pid, signal.SIGTERM)
    return 0


if __name__ == "__main__":
    # Not sys.exit: it would flush, and wait for, nothing that is ours.
    os._exit(main(sys.argv[1:]))
