"""A container of ours from its creation to its removal."""

import contextlib
import secrets
import signal
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from sandbox.engine import Engine, facts
from sandbox.errors import EngineError, ImageError, Limit, SandboxError, SandboxLostError
from sandbox.limits import Limits, shown

NAME = "name"
"""The label that repeats a container's name: only the container itself can have both."""
DISK = "disk"
"""The label that says how large the files of a container may be."""
DISK_SIGNAL, HOST_SIGNAL = signal.SIGXFSZ, signal.SIGUSR2
"""What `disk` ends a container with. Its PID 1 is root's, so nobody inside can send it either."""
SLEPT, KILLED = 0, 128
"""How the sleep of PID 1 ends: by itself, or with this plus the number of a signal."""
DYING, PAUSE = 0.5, 0.02
"""Seconds in which the engine learns that a container died, and between two looks."""

LIMITS: Mapping[int, tuple[Limit, str]] = {
    SLEPT: (
        "time",
        "The sandbox reached its time limit: give it more seconds and start the run again.",
    ),
    KILLED + DISK_SIGNAL: (
        "disk",
        "The sandbox's files reached its disk limit: raise `disk` under [sandbox]{disk}, or have "
        "the work leave less behind.",
    ),
    KILLED + HOST_SIGNAL: (
        "disk",
        "The disk of the Docker Engine's machine was nearly full while the sandbox worked: free "
        "some space there (`docker system df` shows what uses it) and start the run again.",
    ),
}
"""By the exit status of PID 1: the limit at which the sandbox was ended, in a word and a sentence
that tells how large `disk` is.

It is a fact of the engine's: what happened is known even when whoever ended it died meanwhile.
"""


def labels(engine: Engine, limits: Limits, run: str, purpose: str) -> dict[str, str]:
    """Whose container this is and until when: what `sweep` decides by after a crash."""
    deadline = str(int(time.time() + limits.seconds))
    of_run = {"run": run, "purpose": purpose, "deadline": deadline}
    return engine.host_labels() | of_run | {DISK: shown(limits.disk)}


@contextlib.contextmanager
def running(engine: Engine, flags: Mapping[str, Any]) -> Iterator[str]:
    """Create and start a container, give its id, and remove it with its volumes whatever happens.

    Raises ImageError when the image is missing or cannot be started, EngineError.
    """
    api = engine.client.api
    # Named beforehand: when Ctrl-C comes during the request, the id is never known.
    name = f"orchestrator-{secrets.token_hex(8)}"
    try:
        here = _within(_with_runtime(flags, engine.runtime), facts(engine)["NCPU"])
        yield _start(api, name, _named(here, name))
    finally:
        remove(api, name)


def _with_runtime(flags: Mapping[str, Any], runtime: str) -> Mapping[str, Any]:
    if not runtime:
        return flags
    return {**flags, "HostConfig": {**flags["HostConfig"], "Runtime": runtime}}


def _within(flags: Mapping[str, Any], processors: int) -> Mapping[str, Any]:
    """With no more processors than the machine has: the engine refuses to start it otherwise."""
    asked = flags["HostConfig"].get("NanoCpus", 0)
    most = min(asked, processors * 10**9)
    return {**flags, "HostConfig": {**flags["HostConfig"], "NanoCpus": most}}


def _named(flags: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """With its name among its labels, if it has any.

    An image made of a container inherits them all: what runs from that must not be taken for ours.
    """
    if not flags.get("Labels"):
        return flags
    return {**flags, "Labels": {**flags["Labels"], NAME: name}}


def _start(api: APIClient, name: str, flags: Mapping[str, Any]) -> str:
    try:
        return _started(api, name, flags)
    except ImageError:
        # What the engine says of itself does not tell whether it can hold a quota: xfs without
        # `pquota` refuses here. A refusal for another reason comes again, without it.
        if "StorageOpt" not in flags["HostConfig"]:
            raise
        host = {key: value for key, value in flags["HostConfig"].items() if key != "StorageOpt"}
        return _started(api, name, {**flags, "HostConfig": host})


def _started(api: APIClient, name: str, flags: Mapping[str, Any]) -> str:
    image = flags["Image"]
    try:
        # Not docker-py's own create: that would put the host's proxy settings into the container.
        created = api.create_container_from_config(dict(flags), name)  # type: ignore[no-untyped-call]
        api.start(name)
    except NotFound as error:
        raise ImageError(
            f"The image {image} is missing: pull or build it, or name another one."
        ) from error
    except APIError as error:
        raise ImageError(
            f"The image {image} cannot be started: {error.explanation or error}"
        ) from error
    except (DockerException, RequestException) as error:
        raise _silent(error) from error
    return str(created["Id"])


def remove(api: APIClient, name: str) -> None:
    """Kill and remove a container with its anonymous volumes; one that is gone is no error."""
    try:
        api.remove_container(name, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:  # its removal is already in progress
            raise SandboxError(f"The container {name} could not be removed: {error}") from error
    except (DockerException, RequestException) as error:
        raise _silent(error) from error


def _silent(error: Exception) -> EngineError:
    return EngineError(f"The engine does not answer ({error}): check `docker version`.")


def lost(api: APIClient, container: str) -> SandboxLostError | None:
    """Why the container does not run any more, as the error to raise; None while it does."""
    try:
        found = api.inspect_container(container)
    except NotFound:
        return SandboxLostError("The sandbox was removed from outside: start the run again.")
    except (DockerException, RequestException) as error:
        return SandboxLostError(str(_silent(error)))
    facts, said = found["State"], found["Config"]["Labels"] or {}
    if facts["Running"]:
        return None
    # Not by `OOMKilled`: it is false after an exec'd process, and true for any child killed before.
    if facts["ExitCode"] in LIMITS:
        return _at_limit(facts["ExitCode"], said.get(DISK, ""))
    return SandboxLostError(
        f"The sandbox ended at {facts['FinishedAt']} with exit status {facts['ExitCode']}: start "
        "the run again."
    )


def ended(by: signal.Signals, disk: int) -> SandboxLostError:
    """What `lost` says, as soon as the engine knows, of a container that was ended so."""
    return _at_limit(KILLED + by, shown(disk))


def _at_limit(status: int, disk: str) -> SandboxLostError:
    limit, sentence = LIMITS[status]
    return SandboxLostError(sentence.format(disk=f" (it is {disk})" if disk else ""), limit)


def death(api: APIClient, container: str) -> SandboxLostError | None:
    """As `lost`, for a container in which something broke: asked again, for half a second.

    Processes are gone before the engine knows that their container is.
    """
    deadline = time.monotonic() + DYING
    while not (dead := lost(api, container)) and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return dead
