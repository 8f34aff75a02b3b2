"""What a container may do: pure functions from limits to the create request of the Engine API."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.companion import Companion
from sandbox.limits import Limits

TOOLBOX = "/opt/orchestrator"
BUSYBOX = f"{TOOLBOX}/bin/busybox"
USER = "10001:10001"
"""Who all work runs as, and who owns /workspace and /home/agent."""

NO_KITS: Mapping[str, str] = {}

SERVICE_PIDS = 512
SERVICE_CPUS = 2.0
SERVICE_FILE = 1 << 30
"""Bytes of one file; PostgreSQL starts another one then."""

ENVIRONMENT = {
    "HOME": "/home/agent",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "USER": "agent",
    "SHELL": "/bin/sh",
    "TERM": "dumb",
    # Without it, every test run of a Python project leaves __pycache__ in the record.
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""What commands see besides the image's own variables (PATH, GOPATH) and declared ones; nothing of
the host. Set by us, not by docker-py, whose own create adds the host's proxy settings."""


def work_flags(
    image: str,
    limits: Limits,
    *,
    toolbox: str,
    labels: Mapping[str, str],
    quota: bool = False,
    kits: Mapping[str, str] = NO_KITS,
) -> dict[str, Any]:
    """The create request of a container for untrusted work: no network and no capability.

    With `quota`, the engine's storage is asked to hold `limits.disk`; `kits` are further volumes,
    by the places where they are mounted read-only.
    """
    flags = _flags(image, limits, toolbox, labels, capabilities=())
    flags["HostConfig"]["Mounts"] += [_kit(volume, place) for place, volume in kits.items()]
    if limits.workspace == "memory":
        flags["HostConfig"]["Tmpfs"]["/workspace"] = _workspace(limits.memory // 2)
    if quota:
        flags["HostConfig"]["StorageOpt"] = {"size": str(limits.disk)}
    return flags


def preparation_flags(
    image: str,
    limits: Limits,
    *,
    toolbox: str,
    labels: Mapping[str, str],
    own_tmp: bool = False,
) -> dict[str, Any]:
    """The create request of the container in which an image is prepared; it never does work itself.

    Set-up installs packages and hands files to uid 10001, for which root needs these capabilities.
    With `own_tmp` the image's own /tmp is there, and what is changed of it goes into the layer.
    """
    capabilities = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")
    flags = _flags(image, limits, toolbox, labels, capabilities=capabilities)
    if own_tmp:
        flags["HostConfig"]["Tmpfs"] = {}
    return flags


def service_flags(
    companion: Companion,
    image: str,
    program: Sequence[str],
    *,
    toolbox: str,
    labels: Mapping[str, str],
    beside: str,
) -> dict[str, Any]:
    """The create request of a service that shares a running container's network namespace."""
    return {
        "Image": image,
        "User": companion.user,
        "Entrypoint": list(program),
        "Cmd": [],
        "StopTimeout": 2,
        "StopSignal": "SIGTERM",
        "Env": [f"{name}={value}" for name, value in companion.env.items()],
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "Init": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "NetworkMode": f"container:{beside}",
            "IpcMode": "private",
            "PidsLimit": SERVICE_PIDS,
            "Memory": companion.memory,
            "MemorySwap": companion.memory,
            "NanoCpus": int(SERVICE_CPUS * 1e9),
            "Ulimits": [
                _ulimit("nofile", 4096),
                _ulimit("core", 0),
                _ulimit("fsize", SERVICE_FILE),
            ],
            # Not /run: it would hide the folders that images make there for their own users.
            "Tmpfs": {"/tmp": _tmpfs(companion.memory // 4)},
            # Its last lines explain a failure, so it has a log, of one small file.
            "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
            "Mounts": [_kit(toolbox, TOOLBOX)],
        },
    }


def _flags(
    image: str,
    limits: Limits,
    toolbox: str,
    labels: Mapping[str, str],
    *,
    capabilities: tuple[str, ...],
) -> dict[str, Any]:
    return {
        "Image": image,
        # Root, so that the `kill -9 -1` of uid 10001 cannot end the container; powerless, because
        # it has no capability. The sleep ends the container even when its owner died.
        "User": "0:0",
        "Entrypoint": [BUSYBOX, "sleep"],
        "Cmd": [str(int(limits.seconds))],
        "StopTimeout": 2,
        "StopSignal": "SIGTERM",  # an image may have chosen a signal that the sleep would survive
        "WorkingDir": "/",  # the image's own may be missing; the engine would create it as root
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},  # an image's health check would run as root
        "HostConfig": {
            "Init": True,  # reaps what commands leave behind
            "CapDrop": ["ALL"],
            "CapAdd": list(capabilities),
            "SecurityOpt": ["no-new-privileges"],  # set-uid programs gain nothing
            "NetworkMode": "none",  # what may be reached, a neighbour carries
            "IpcMode": "private",
            "ExtraHosts": ["sandbox:127.0.0.1"],  # without a network nothing else names the host
            "PidsLimit": limits.pids,
            "Memory": limits.memory,
            "MemorySwap": limits.memory,  # equal: no swap
            "NanoCpus": int(limits.cpus * 1e9),
            "Ulimits": [
                _ulimit("nofile", 4096),
                _ulimit("core", 0),  # a core dump would fill the disk
                _ulimit("fsize", limits.file_size),
            ],
            "Tmpfs": {"/tmp": _tmpfs(limits.tmp_size)},
            "LogConfig": {"Type": "none"},  # output would pile up on the host's disk
            "Mounts": [_kit(toolbox, TOOLBOX)],
        },
    }


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _tmpfs(size: int) -> str:
    # exec: test binaries are built and started in /tmp. nr_inodes: empty files cost memory too.
    return f"rw,nosuid,nodev,exec,size={size},nr_inodes=200k,mode=1777"


def _workspace(size: int) -> str:
    owner = "uid=10001,gid=10001,mode=0755"
    return f"rw,nosuid,nodev,exec,size={size},nr_inodes=500k,{owner}"


def _kit(volume: str, place: str) -> dict[str, Any]:
    # NoCopy: whatever the image has at this path must never become the kit.
    options = {"NoCopy": True}
    return {
        "Type": "volume",
        "Source": volume,
        "Target": place,
        "ReadOnly": True,
        "VolumeOptions": options,
    }
