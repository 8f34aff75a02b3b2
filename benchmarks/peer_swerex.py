"""swe-rex's server, asked over HTTP as its Docker deployment does; run by its own interpreter.

Prints a name and the median of N seconds in each line. The server runs on this machine and not in a
container: to be in one, swe-rex would have to be installed into the image. So what it shows is less
than what a user of its Docker deployment pays.
"""

import asyncio
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from swerex.runtime.abstract import BashAction, Command, CreateBashSessionRequest
from swerex.runtime.remote import RemoteRuntime

TOKEN = "benchmark"
LARGE = "head -c 10000000 /dev/zero | tr '\\0' x"


async def main(rounds: int, port: int) -> None:
    runtime = RemoteRuntime(host="http://127.0.0.1", port=port, auth_token=TOKEN, timeout=60)
    await runtime.wait_until_alive(timeout=30)
    await runtime.create_session(CreateBashSessionRequest())
    sessions, commands = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        await runtime.run_in_session(BashAction(command="true"))
        sessions.append(time.perf_counter() - began)
        began = time.perf_counter()
        await runtime.execute(Command(command=["true"]))
        commands.append(time.perf_counter() - began)
    began = time.perf_counter()
    await runtime.execute(Command(command=["sh", "-c", LARGE]))
    print("large", (time.perf_counter() - began) * 10)
    print("session", statistics.median(sessions))
    print("command", statistics.median(commands))
    await runtime.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


if __name__ == "__main__":
    port = free_port()
    program = str(Path(sys.executable).with_name("swerex-remote"))
    command = [program, "--host", "127.0.0.1", "--port", str(port), "--auth-token", TOKEN]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            asyncio.run(main(int(sys.argv[1]), port))
        finally:
            server.kill()
