"""The Docker Engine: the one that answers."""

import functools
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import DockerException

from sandbox.errors import EngineError, NoRuntimeError
from sandbox.owner import Owner

OLDEST_API = (1, 41)
"""Docker Engine 20.10, the oldest one these containers were tried on."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A Docker Engine that answered."""

    client: docker.DockerClient
    version: str
    architecture: str
    """In Docker's words: `amd64`, `arm64`."""
    runtime: str = ""
    """The OCI runtime of every container we start, such as `runsc`; empty: the engine's default."""

    def close(self) -> None:
        """Close the connections to the engine."""
        self.client.close()

    def host_labels(self) -> dict[str, str]:
        """Labels that tell whose a container is, and so whether its owner still lives."""
        return Owner.of_this_process().labels


@functools.lru_cache(maxsize=8)
def facts(engine: Engine) -> Mapping[str, Any]:
    """What the engine says of itself and its machine, asked once."""
    said: Mapping[str, Any] = engine.client.info()
    return said


def connect(runtime: str = "") -> Engine:
    """Connect as the `docker` command would: DOCKER_HOST, else its context, else the socket.

    Raises EngineError when nothing answers there, or something too old or not for Linux containers;
    NoRuntimeError when it does not have the `runtime`.
    """
    try:
        with closing(_client(".".join(map(str, OLDEST_API)))) as asking:
            said = asking.version(api_version=False)
        client = _client(said["ApiVersion"])
        objection = _objection(said) or (_unknown(client, runtime) if runtime else None)
    except (DockerException, OSError, KeyError) as error:
        raise EngineError(_advice(error)) from error
    if objection:
        client.close()
        raise objection
    return Engine(client, said["Version"], said["Arch"], runtime)


def _client(version: str) -> docker.DockerClient:
    """A client that speaks this version of the API; nothing is asked yet."""
    client = docker.from_env(version=version)
    # Neither a proxy nor ~/.netrc is for a socket of this machine, and looking for them takes as
    # long as all else that is done here for a request.
    client.api.trust_env = not is_local(client)
    return client


def is_local(client: docker.DockerClient) -> bool:
    """Whether its engine is reached by a socket or pipe of this machine, and not over SSH."""
    return client.api.base_url in {"http+docker://localhost", "http+docker://localnpipe"}


def _objection(said: Mapping[str, Any]) -> EngineError | None:
    api, version, system = said["ApiVersion"], said["Version"], said["Os"]
    if any("podman" in part["Name"].lower() for part in said.get("Components") or ()):
        # Tried with 4.3.1: no bound on the number of files in a tmpfs, no labels and variables on
        # an image made from a container, no volume filled without a start.
        return EngineError(
            f"Podman {version} answers there, whose imitation of the Docker API lacks what prepared"
            " images need: set DOCKER_HOST to a Docker Engine, 20.10 or later."
        )
    if tuple(int(part) for part in api.split(".")) < OLDEST_API:
        return EngineError(f"Docker Engine {version} is too old: install 20.10 or later.")
    if system != "linux":
        said_so = f"The Docker Engine runs {system} containers: switch it to Linux containers."
        return EngineError(said_so)
    return None


def _unknown(client: docker.DockerClient, runtime: str) -> EngineError | None:
    known = sorted(client.info().get("Runtimes") or ())
    # A shim of containerd's need not be registered since Docker Engine 23; the engine will tell.
    if runtime in known or runtime.startswith("io.containerd."):
        return None
    return NoRuntimeError(
        f"The Docker Engine has no runtime {runtime!r}, only {', '.join(known)}: name one of them, "
        "or add it under `runtimes` in the engine's daemon.json and reload the engine."
    )


def _advice(error: BaseException) -> str:
    match _system_error(error):
        case PermissionError():
            return (
                "The Docker Engine is there but you may not use it: run "
                "`sudo usermod -aG docker $USER`, log in again and try once more."
            )
        case FileNotFoundError() | ConnectionRefusedError():
            return (
                "No Docker Engine answers: start it (`sudo systemctl start docker`), install one "
                "(on Debian and Ubuntu `sudo apt-get install docker.io`), or set DOCKER_HOST."
            )
        case None:
            return f"Docker cannot be used: {error}; check DOCKER_HOST and `docker context ls`."
        case reason:
            return (
                f"The Docker Engine does not answer ({reason}): "
                "check DOCKER_HOST and `docker version`."
            )


def _system_error(error: BaseException | None) -> OSError | None:
    """What the system said: docker-py wraps it in up to three exceptions of its libraries."""
    while error is not None:
        if type(error).__module__ == "builtins" and isinstance(error, OSError):
            return error
        error = error.__cause__ or error.__context__
    return None
