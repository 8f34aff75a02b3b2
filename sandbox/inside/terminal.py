"""Run one program on the terminal that this process was given; end all it started with it.

    inside.terminal TOKEN ROWS COLUMNS FOLDER COMMAND [ARGUMENT...]
    inside.terminal --stop TOKEN

Exits with the program's status, 128 + N after signal N; with 129 (hung up) when it was told to stop
and the program ignored it. The program leads a session of its own with the terminal as its
controlling one, so job control, Ctrl-C and hanging up work as on any terminal; this process has
none, and gets no signal from it. When the program ends, everything it left behind is killed, in
other sessions too. Prints one NUL, which no screen shows, when the program is about to start.
"""

import ctypes
import fcntl
import os
import signal
import sys
import termios
import time

from .reaper import WATCHED, descendants, ended, environment, has_children, kill, processes

PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
IUTF8 = 0x4000
"""Backspace takes a whole character from a line that is being typed, see termios(3)."""
HUNG_UP = 128 + signal.SIGHUP
FAREWELL = 0.3
"""Seconds for a program to save what it wants to when its terminal hangs up."""
PATIENCE = 2.0
"""Seconds to kill process by process, before everything of this user goes."""
EVER = 1e8


def main(arguments: list[str]) -> int:
    if arguments[0] == "--stop":
        return stop(arguments[1])
    _token, rows, columns, folder, *command = arguments
    shield()
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    try:
        place = own_terminal(int(rows), int(columns))
        os.chdir(folder)
        os.write(1, b"\0")
        child = start(command, place)
    except (OSError, ValueError) as problem:
        return refuse(command[0], problem)
    status = wait(child, EVER)
    if status is None:
        kill(child, signal.SIGHUP)
        status = wait(child, FAREWELL)
    end_descendants()
    return HUNG_UP if status is None else status


def shield() -> None:
    """Become the parent of what is left behind, and nothing that its user could read or steer."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def own_terminal(rows: int, columns: int) -> str:
    """Set the terminal up and let go of it; the path by which the program takes it."""
    place = os.ttyname(0)
    termios.tcsetwinsize(0, (rows, columns))
    settings = termios.tcgetattr(0)
    settings[0] |= IUTF8
    termios.tcsetattr(0, termios.TCSANOW, settings)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # letting go hangs up on this process itself
    fcntl.ioctl(0, termios.TIOCNOTTY)
    return place


def start(command: list[str], place: str) -> int:
    """Start the program; the leader of a new session gets the first terminal that it opens."""
    own = environment()
    os.environ["PATH"] = own.get("PATH", os.defpath)
    return os.posix_spawnp(
        command[0],
        command,
        own,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, place, os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ),
    )


def refuse(name: str, problem: Exception) -> int:
    """Say why nothing could be started; 127 and 126 are what a shell would exit with."""
    reason = getattr(problem, "strerror", None) or str(problem)
    place = getattr(problem, "filename", None) or name
    os.write(2, os.fsencode(f"{place}: {reason}\n"))
    return 127 if isinstance(problem, FileNotFoundError) else 126


def wait(child: int, seconds: float) -> int | None:
    """The child's exit status; None when its time is up or a stop was asked for."""
    deadline = time.monotonic() + seconds
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
        signal.sigtimedwait(WATCHED, 0.02)
        ended()


def stop(token: str) -> int:
    """Ask the session with this token to end; what carries no such token is not touched."""
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
    os._exit(main(sys.argv[1:]))
