"""The container through which the connections of a sandbox reach the host.

It shares the sandbox's network namespace, has no mount, and listens on one port of 127.0.0.1 there.
What it accepts travels over its attached stdin and stdout, so that one design serves an engine on
this machine and one elsewhere.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from docker.errors import DockerException
from requests.exceptions import RequestException

from sandbox import container, toolbox
from sandbox.companion import RELAY_PORT
from sandbox.engine import Engine
from sandbox.errors import GatewayError, SandboxError, SandboxLostError
from sandbox.gateway.link import EngineLink
from sandbox.inside.multiplexer import BrokenLinkError, Multiplexer

PORT = RELAY_PORT
"""Of 127.0.0.1 in a sandbox with a gateway; below the range that the kernel takes ports from."""
USER = "10002:10002"
"""Neither root nor who works: no process of the sandbox can signal or read it."""
PYTHON = f"{toolbox.PLACE}/bin/python"
PROGRAMS = ("multiplexer.py", "relay.py")
STARTING = 20.0
"""Seconds that the relay gets to answer."""
CLOSING = 5.0
"""Seconds that `accept`, which should not take any, may hold up the end."""

Accept = Callable[[socket.socket], None]
"""Takes over a connection from a sandbox; it must return at once, for all connections wait."""


@dataclass(frozen=True, slots=True)
class Relay:
    """A Neighbour that gives a sandbox one port on which somebody of the host answers."""

    accept: Accept
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the commands in the sandbox."""
    lost: Callable[[], str | None] = lambda: None
    """Why nothing is accepted any more, in a sentence; None while it is."""

    @contextlib.contextmanager
    def join(
        self, engine: Engine, container: str, labels: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        """Start beside a running container, see `Neighbour.join`.

        When the relay or who accepts ends before the block does, the sandbox is killed, and the
        SandboxLostError that comes of it says why: there is no other way out to go on with.
        """
        if why := self.lost():
            raise GatewayError(why)
        with _running(engine, container, labels) as identity:
            carrier = _Carrier(engine, identity, container, self)
            try:
                carrier.await_ready()
                yield self.environment
            except SandboxError as error:
                carrier.require_alive(error)
                raise
            finally:
                carrier.close()


@contextlib.contextmanager
def _running(engine: Engine, beside: str, labels: Mapping[str, str]) -> Iterator[str]:
    flags = relay_flags(toolbox.image_id(engine), beside, labels)
    with container.running(engine, flags) as identity:
        yield identity


def relay_flags(image: str, beside: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """The create request of a relay: a network namespace to listen in, and nothing else."""
    # Given as text: it is the host's own version whatever the image holds, without a mount.
    program = "\n".join((toolbox.INSIDE / name).read_text(encoding="utf-8") for name in PROGRAMS)
    return {
        "Image": image,
        "User": USER,
        "Entrypoint": [PYTHON, "-I", "-S", "-c", program],
        "Cmd": [str(PORT)],
        "WorkingDir": "/",
        "Env": [],
        "Labels": {**labels, "purpose": "relay"},
        "Healthcheck": {"Test": ["NONE"]},
        "OpenStdin": True,
        "StdinOnce": True,  # when its owner dies the relay reads the end, and ends
        "HostConfig": {
            "NetworkMode": f"container:{beside}",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "IpcMode": "none",
            "PidsLimit": 16,
            "Memory": 128 << 20,  # 256 connections with a full window each, and Python
            "MemorySwap": 128 << 20,
            "NanoCpus": 10**9,
            "LogConfig": {"Type": "none"},  # the engine would keep all traffic on its disk
        },
    }


class _Carrier:
    """The host's end of one relay: a thread that hands every connection on."""

    def __init__(self, engine: Engine, identity: str, box: str, relay: Relay) -> None:
        self._engine = engine
        self._box = box
        self._relay = relay
        self._ready = threading.Event()
        self._closing = False
        self._lost = ""
        self._link = EngineLink(engine.client.api, identity)
        self._carried = Multiplexer(self._link, self._open)
        self._carried.told_ready = self._ready.set
        self._carried.checked = self._check
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def await_ready(self) -> None:
        """Wait until the port is open. Raises SandboxError when it does not come to that."""
        if not self._ready.wait(STARTING):
            raise SandboxError(f"The relay did not start within {STARTING:.0f} s: try again.")
        self.require_alive()

    def require_alive(self, cause: Exception | None = None) -> None:
        """Raise SandboxLostError when the connections are not carried any more."""
        if self._lost:
            raise SandboxLostError(
                f"The sandbox's only way out broke ({self._lost}): start the run again."
            ) from cause

    def close(self) -> None:
        """Let go of the relay; connections that are still open end."""
        self._closing = True
        self._link.shut()
        self._thread.join(CLOSING)
        if not self._thread.is_alive():
            self._link.close()

    def _open(self, number: int) -> socket.socket | None:
        try:
            ours, theirs = socket.socketpair()
        except OSError:  # no descriptor is left: this connection is refused, others go on
            return None
        try:
            self._relay.accept(theirs)
        except BaseException:
            ours.close()
            raise
        return ours

    def _check(self) -> None:
        if why := self._relay.lost():
            raise GatewayError(why)

    def _carry(self) -> None:
        self._carried.say_ready()
        try:
            self._carried.run()
            lost = self._link.said() or "the relay ended"
        except BrokenLinkError as error:
            lost = f"the relay sent {error}"
        except GatewayError as error:
            lost = str(error).rstrip(".")
        except Exception as error:  # whatever it is, the run has to hear of it
            lost = f"{type(error).__name__}: {error}"
        if not self._closing:
            self._lost = lost
            self._kill()
        self._ready.set()

    def _kill(self) -> None:
        # Before anything in the sandbox can take the port and play the gateway.
        with contextlib.suppress(DockerException, RequestException, OSError):
            self._engine.client.api.kill(self._box)
