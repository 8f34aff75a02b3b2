"""A program of the sandbox that runs on under a token: how it ended, and how to end it."""

import time
from contextlib import AbstractContextManager
from typing import Any

from docker.api.client import APIClient

from sandbox.container import death
from sandbox.engine import Engine
from sandbox.exec import PROGRAM, ExecChannel, losing
from sandbox.hardening import TOOLBOX, USER

PAUSE = 0.01
STOPPING = 3.0
"""Seconds that a program and all it started get to end, the start of what ends them included."""


class Program:
    """One exec of `inside.terminal`, by the token that it was given."""

    def __init__(self, engine: Engine, container: str, token: str) -> None:
        self.api: APIClient = engine.client.api
        self.container = container
        self.token = token
        self.id = ""
        """The engine's name for it, once it has one."""
        self._channel = ExecChannel(engine, container)

    def request(self, *arguments: str, **more: object) -> dict[str, Any]:
        """What the engine has to be asked for to run `inside.terminal`."""
        command = [*PROGRAM, "inside.terminal", *arguments]
        return {"cmd": command, "user": USER, "workdir": TOOLBOX, **more}

    def stop(self) -> None:
        """Have it and all it started ended; where that fails, everything in the sandbox.

        Raises SandboxLostError.
        """
        with self.losing():
            stopping = self.api.exec_create(self.container, **self.request("--stop", self.token))
            self.api.exec_start(stopping["Id"], detach=True)
            self.await_exit()
            if self._running():
                self._channel.sweep()

    def await_exit(self) -> int | None:
        """The exit status that the engine saw; None when it runs on, see `STOPPING`."""
        deadline = time.monotonic() + STOPPING
        while self._running() and time.monotonic() < deadline:
            time.sleep(PAUSE)
        code = self.api.exec_inspect(self.id)["ExitCode"]
        return None if code is None else int(code)

    def require_sandbox(self) -> None:
        """Raise SandboxLostError when the container does not run."""
        if dead := death(self.api, self.container):
            raise dead

    def losing(self) -> AbstractContextManager[None]:
        """Tell a container or engine that went away from everything else."""
        return losing(self.api, self.container)

    def _running(self) -> bool:
        return bool(self.api.exec_inspect(self.id)["Running"])
