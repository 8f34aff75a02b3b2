"""Services beside a sandbox: databases and the like, in its network namespace, as sealed as it is.

They have no network but the sandbox's own 127.0.0.1, no capability, no mount but the read-only
toolbox, and their own namespaces for processes and files. An image that starts as root to change
its user later cannot do so here: `user` names that one from the start.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from docker.api.client import APIClient
from docker.errors import APIError

from sandbox import container, images, toolbox
from sandbox.companion import Companion
from sandbox.container import lost
from sandbox.engine import Engine
from sandbox.errors import ImageError, SandboxError
from sandbox.hardening import BUSYBOX, TOOLBOX, service_flags

PROBE = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1)"
PAUSE = 0.1
ATTEMPT = 10.0
"""Seconds for one try of what says whether a service is ready."""
TAIL = 10
"""Lines of its output that a failure shows."""
WIDTH = 300
"""Characters of each."""


class Services:
    """The Neighbour that stands for all services of a run."""

    def __init__(self, companions: Sequence[Companion]) -> None:
        self._companions = companions

    @contextlib.contextmanager
    def join(
        self, engine: Engine, container: str, labels: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        """Start all of them, wait until each can be used, and remove them at the end.

        They come fresh from their images each time. Raises ImageError for an image that is missing
        or cannot be started, SandboxError for a service that does not become ready, or that has
        ended by the end of the block while the sandbox lives.
        """
        with contextlib.ExitStack() as stack:
            started = []
            for each in self._companions:
                with _named(each):
                    started.append(stack.enter_context(_started(engine, each, container, labels)))
            for service in started:
                service.await_ready()
            yield {}
            if lost(engine.client.api, container) is None:
                for service in started:
                    service.require_alive()


@contextlib.contextmanager
def _named(companion: Companion) -> Iterator[None]:
    """Say whose image it is that is missing or cannot be started."""
    try:
        yield
    except ImageError as error:
        raise ImageError(f"The service {companion.name} cannot be started: {error}") from error


@contextlib.contextmanager
def _started(
    engine: Engine, companion: Companion, beside: str, labels: Mapping[str, str]
) -> Iterator["_Started"]:
    image = images.available(engine, companion.image)
    program = _program(image.attrs["Config"], companion)
    left = max(1, int(float(labels["deadline"]) - time.time()))
    # As in the sandbox itself, it ends even when its owner died; this becomes the program.
    entry = [BUSYBOX, "timeout", "-s", "KILL", str(left)]
    flags = service_flags(
        companion,
        str(image.id),
        [*entry, *program],
        toolbox=toolbox.volume(engine),
        labels={**labels, "service": companion.name},
        beside=beside,
    )
    with container.running(engine, flags) as identity:
        root = not (companion.user or image.attrs["Config"].get("User"))
        yield _Started(engine.client.api, companion, identity, root)


def _program(config: Mapping[str, Any], companion: Companion) -> list[str]:
    """What the image would run, with the settings' command in the place of its own."""
    program = [*(config["Entrypoint"] or ()), *(companion.command or config["Cmd"] or ())]
    if not program:
        raise ImageError(f"The image {companion.image} starts nothing: say `command`.")
    return program


def _why(companion: Companion) -> str:
    if companion.ready:
        return f"`{companion.ready}` did not succeed"
    return f"port {companion.port} is not open"


class _Started:
    """A service that runs, ready or not."""

    def __init__(self, api: APIClient, companion: Companion, identity: str, root: bool) -> None:
        self._api = api
        self._companion = companion
        self._id = identity
        self._root = root

    def await_ready(self) -> None:
        """Return once it can be used. Raises SandboxError when it ends or takes too long."""
        wanted = self._companion
        deadline = time.monotonic() + wanted.seconds
        status = self._ask(deadline)
        while status != 0:
            if (ended := self._ended()) is not None:
                raise self._failure(f"ended with exit status {ended} before it was ready")
            if time.monotonic() >= deadline:
                raise self._failure(f"was not ready within {wanted.seconds:.0f} s: {_why(wanted)}")
            time.sleep(PAUSE)
            status = self._ask(deadline)

    def require_alive(self) -> None:
        """Raise SandboxError when it has ended: what happened since then was without it."""
        if (ended := self._ended()) is not None:
            raise self._failure(f"ended with exit status {ended} while it was needed")

    def _ask(self, deadline: float) -> int | None:
        """The exit status of what says whether it is ready; None when that did not end in time."""
        command = ["sh", "-c", self._companion.ready]
        if not self._companion.ready:
            probe = [f"{TOOLBOX}/bin/python", "-I", "-S", "-c", PROBE]
            command = [*probe, str(self._companion.port)]
        until = min(deadline, time.monotonic() + ATTEMPT)
        try:
            asked = self._api.exec_create(self._id, command)["Id"]
            self._api.exec_start(asked, detach=True)
            while (facts := self._api.exec_inspect(asked))["Running"]:
                if time.monotonic() >= until:
                    return None
                time.sleep(PAUSE / 4)
        except APIError:  # it ended, which shows next
            return None
        return cast(int | None, facts["ExitCode"])

    def _ended(self) -> int | None:
        state = self._api.inspect_container(self._id)["State"]
        return None if state["Running"] else int(state["ExitCode"])

    def _failure(self, what: str) -> SandboxError:
        advice = "mend its settings or its image"
        if self._root:
            advice += "; it ran as root without any right, so `user` may have to name its own user"
        lines = self._api.logs(self._id, tail=TAIL).decode("utf-8", "replace").split("\n")
        shown = ["".join(filter(str.isprintable, line))[:WIDTH] for line in lines]
        said = [f"    {line}" for line in shown if line.strip()]
        below = ["  It said:", *said] if said else ["  It said nothing."]
        sentence = f"The service {self._companion.name} {what}; {advice}."
        return SandboxError("\n".join([sentence, *below]))
