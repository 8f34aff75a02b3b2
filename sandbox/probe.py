"""What an engine can do, and whether its containers hold: tried, not believed."""

import json
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from docker.errors import APIError

from sandbox import container, toolbox
from sandbox.disk import has_quota
from sandbox.engine import Engine
from sandbox.errors import SandboxError, SandboxLostError
from sandbox.exec import PROGRAM, ExecChannel
from sandbox.gateway.relay import PORT, Relay
from sandbox.hardening import TOOLBOX, USER, work_flags
from sandbox.limits import Limits
from sandbox.stream import Exit

SMALL = Limits(memory=512 << 20, cpus=1.0, pids=64, tmp_size=16 << 20, seconds=300)
OUTSIDE = ("1.1.1.1:53", "169.254.169.254:80")
"""Addresses that no sandbox may reach: any host of the internet, the metadata of a cloud."""
SECONDS = 60.0
SEALED = {"CapPrm": "0" * 16, "CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an engine says of itself."""

    api: str
    storage: str
    """Storage driver, and the file system under it."""
    cgroups: str
    """`1` or `2`."""
    runtimes: tuple[str, ...]
    runtime: str
    """The one that containers get by default."""
    security: tuple[str, ...]
    """Such as `apparmor`, `rootless`, `seccomp`, `userns`; `unconfined` where seccomp is off."""
    unbounded: tuple[str, ...]
    """Of memory, swap, cpus and pids those that it cannot bound."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What a program in a sandbox found."""

    holes: tuple[str, ...]
    """What it should not be or be able to do, each in a few words."""
    network: tuple[str, ...]
    """Interfaces, routes and addresses that it should not have."""
    free_bytes: int
    """Where the engine keeps the files of containers."""
    free_files: int
    writable: tuple[str, ...]
    """Folders of the image that every user may write to, when asked for; at most 100."""


def abilities(engine: Engine) -> Abilities:
    """Ask the engine."""
    said = engine.client.info()
    under = dict(said.get("DriverStatus") or ()).get("Backing Filesystem", "")
    return Abilities(
        api=str(engine.client.api.api_version),
        storage=said["Driver"] + (f" on {under}" if under else ""),
        cgroups=str(said.get("CgroupVersion") or "1"),
        runtimes=tuple(sorted(said.get("Runtimes") or ())),
        runtime=said.get("DefaultRuntime") or "",
        security=_security(said.get("SecurityOptions") or ()),
        unbounded=tuple(name for name, key in _BOUNDS.items() if not said.get(key)),
    )


_BOUNDS = {"memory": "MemoryLimit", "swap": "SwapLimit", "cpus": "CpuCfsQuota", "pids": "PidsLimit"}


def _security(options: list[str] | tuple[()]) -> tuple[str, ...]:
    """The names of `name=seccomp,profile=default` and its like."""
    words = [dict(part.partition("=")[::2] for part in option.split(",")) for option in options]
    off = any(each.get("profile") == "unconfined" for each in words)
    return tuple(sorted(each.get("name", "") for each in words)) + ("unconfined",) * off


def unlimited_disk(engine: Engine, image: str) -> str | None:
    """Why the engine cannot bound a container's disk by `--storage-opt size`; None when it can."""
    if not has_quota(engine):
        return f"no quota is known to hold on the storage {abilities(engine).storage}"
    name = f"orchestrator-{secrets.token_hex(8)}"
    flags = _flags(engine, image)
    flags["HostConfig"]["StorageOpt"] = {"size": "1G"}
    flags["Labels"][container.NAME] = name
    api = engine.client.api
    try:
        api.create_container_from_config(flags, name)  # type: ignore[no-untyped-call]
    except APIError as error:
        return str(error.explanation or error).strip()
    finally:
        container.remove(api, name)
    return None


def look_inside(engine: Engine, image: str, *, writable: bool = False) -> Inside:
    """Start a sandbox on an image and look around in it as an agent would.

    Raises ImageError when it cannot be started, SandboxLostError when it cannot be looked into.
    """
    with container.running(engine, _flags(engine, image)) as identity:
        return look_around(engine, identity, writable=writable)


def look_around(engine: Engine, identity: str, *, writable: bool = False) -> Inside:
    """What a program of the working user finds in a running container."""
    asked = ("--writable",) if writable else ()
    output, end = _output(engine, identity, (*asked, *OUTSIDE, *_gateways(engine)))
    try:
        facts = json.loads(output)
    except ValueError:
        raise SandboxLostError(
            f"A probe in a container ended with status {end.status} and said nothing that can be"
            " read: try `orchestrator doctor` without --image."
        ) from None
    return Inside(
        holes=(*_holes(facts["status"]), *(f"{name} works" for name in facts["allowed"])),
        network=_network(facts),
        free_bytes=facts["free_bytes"],
        free_files=facts["free_files"],
        writable=tuple(facts["writable"]),
    )


def ask_through_relay(engine: Engine, image: str) -> float:
    """Seconds that a program in a sandbox takes to start and to reach this process by a relay.

    Raises SandboxError when no relay comes up, or nothing comes through.
    """
    flags = _flags(engine, image)
    answer = secrets.token_hex(8).encode()

    def accept(connection: socket.socket) -> None:
        with connection:
            connection.sendall(answer)

    beside = Relay(accept)
    with (
        container.running(engine, flags) as identity,
        beside.join(engine, identity, flags["Labels"]),
    ):
        began = time.monotonic()
        output, _ = _output(engine, identity, ("--ask", f"127.0.0.1:{PORT}"))
    if answer not in output:
        raise SandboxError("A relay came up, and nothing came through it.")
    return time.monotonic() - began


def _flags(engine: Engine, image: str) -> dict[str, Any]:
    labels = container.labels(engine, SMALL, run="", purpose="probe")
    return work_flags(image, SMALL, toolbox=toolbox.volume(engine), labels=labels)


def _output(engine: Engine, identity: str, arguments: tuple[str, ...]) -> tuple[bytes, Exit]:
    command = [*PROGRAM, "inside.probe", *arguments]
    output = bytearray()
    for item in ExecChannel(engine, identity).start(command, cwd=TOOLBOX, seconds=SECONDS):
        if isinstance(item, Exit):
            return bytes(output), item
        if item.stream == "stdout":
            output += item.data
    raise AssertionError("a channel's last item is its Exit")


def _gateways(engine: Engine) -> Iterator[str]:
    """The machine itself, as containers of the default bridge would reach it."""
    for network in engine.client.api.networks(names=["bridge"]):
        for pool in network["IPAM"]["Config"] or ():
            # An engine that has just made it does not tell: it is the first address then.
            gateway = pool.get("Gateway") or next(ip_network(pool["Subnet"]).hosts())
            yield f"{gateway}:22"


def _holes(status: Mapping[str, str]) -> Iterator[str]:
    if set(status["Uid"].split()) != {USER.partition(":")[0]}:
        yield f"user {status['Uid'].split()[0]}"
    for name, value in SEALED.items():
        if status.get(name, value) != value:
            yield f"{name} is {status[name]}"
    # A kernel of its own, as gVisor's, tells neither: its filter stands around the whole of it.
    if status["Seccomp"] != "2" and "NoNewPrivs" in status:
        yield "no seccomp filter"


def _network(facts: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        *(f"interface {name}" for name in facts["interfaces"] if name != "lo"),
        *(f"route {line}" for line in facts["routes"]),
        *(f"{address} answers" for address in facts["reached"]),
    )
