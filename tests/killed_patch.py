"""A command that kills itself, as `kill -9` would, at its N-th change of the disk.

    python -m tests.killed_patch N ARGUMENT...

With -N it stops itself there, and goes on when it is told to; with 0 it names, on stderr, each lock
before it takes it.

The changes are what Python tells of itself (audit events: files opened to be written, renamed and
removed, folders made and removed). Nothing of the product knows of it.
"""

import os
import signal
import sys
import tempfile

from orchestrator.cli import say
from orchestrator.cli.main import call

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}
PASSING = (tempfile.gettempdir(), "/dev/")


def changes(event: str, values: tuple[object, ...]) -> bool:
    """Whether an audit event is a change of what lasts."""
    if event == "open":
        # `open` is told twice; the second time, without a mode, it is the system's.
        made = values[1] is None and isinstance(values[2], int) and values[2] & os.O_CREAT
    else:
        made = event in CHANGES
    path = str(values[0]) if made else ""
    return path.startswith("/") and not path.startswith(PASSING)


def main(step: int, arguments: list[str]) -> int:
    left = [abs(step)]

    def count(event: str, values: tuple[object, ...]) -> None:
        if event == "fcntl.flock" and not step:
            print(os.readlink(f"/proc/self/fd/{values[0]}"), file=sys.stderr, flush=True)
        if changes(event, values):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL if step > 0 else signal.SIGSTOP)

    say.LATE = 600.0  # what is told of a busy machine is none of it
    sys.addaudithook(count)
    return call(arguments)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
