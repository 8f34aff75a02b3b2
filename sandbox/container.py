"""A container of ours from its creation to its removal."""

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from docker.api.client import APIClient
from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from sandbox.engine import Engine
from sandbox.errors import ImageError, SandboxError
from sandbox.limits import Limits

NAME = "name"
"""The label that repeats a container's name: only the container itself can have both."""


def labels(engine: Engine, limits: Limits, run: str, purpose: str) -> dict[str, str]:
    """Whose container this is and until when: what `sweep` decides by after a crash."""
    deadline = str(int(time.time() + limits.seconds))
    return engine.host_labels() | {"run": run, "purpose": purpose, "deadline": deadline}


@contextlib.contextmanager
def running(engine: Engine, flags: Mapping[str, Any]) -> Iterator[str]:
    """Create and start a container, give its id, and remove it with its volumes whatever happens.

    Raises ImageError when the image is missing or cannot be started.
    """
    api = engine.client.api
    # Named beforehand: when Ctrl-C comes during the request, the id is never known.
    name = f"orchestrator-{secrets.token_hex(8)}"
    try:
        yield _start(api, name, _named(_with_runtime(flags, engine.runtime), name))
    finally:
        remove(api, name)


def _with_runtime(flags: Mapping[str, Any], runtime: str) -> Mapping[str, Any]:
    if not runtime:
        return flags
    return {**flags, "HostConfig": {**flags["HostConfig"], "Runtime": runtime}}


def _named(flags: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """With its name among its labels, if it has any.

    An image made of a container inherits them all: what runs from that must not be taken for ours.
    """
    if not flags.get("Labels"):
        return flags
    return {**flags, "Labels": {**flags["Labels"], NAME: name}}


def _start(api: APIClient, name: str, flags: Mapping[str, Any]) -> str:
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


def state(api: APIClient, container: str) -> str | None:
    """Why the container does not run any more, in a sentence; None while it does."""
    try:
        facts = api.inspect_container(container)["State"]
    except NotFound:
        return "The sandbox was removed from outside: start the run again."
    except (DockerException, RequestException) as error:
        return f"The engine does not answer ({error}): check `docker version`."
    if facts["Running"]:
        return None
    if facts["ExitCode"] == 0:
        return "The sandbox reached its time limit: give it more seconds and start the run again."
    return (
        f"The sandbox ended at {facts['FinishedAt']} with exit status {facts['ExitCode']}"
        f"{': out of memory' if facts['OOMKilled'] else ''}; start the run again."
    )
