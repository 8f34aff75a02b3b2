"""Commands in a container that is no box."""

from collections.abc import Sequence

from sandbox import Engine
from sandbox.channel import Chunk
from sandbox.exec import ExecChannel
from sandbox.stream import Completed, Exit


def run_in(
    engine: Engine, container: str, command: Sequence[str], *, user: str = "", cwd: str = "/"
) -> Completed:
    """Run a command in it; docker-py's `exec_run` loses output now and then on a busy machine."""
    printed, end = {"stdout": b"", "stderr": b""}, Exit(-1, 0.0)
    for item in ExecChannel(engine, container, user).start(command, cwd=cwd):
        if isinstance(item, Chunk):
            printed[item.stream] += item.data
        else:
            end = item
    return Completed(end, printed["stdout"], printed["stderr"])
