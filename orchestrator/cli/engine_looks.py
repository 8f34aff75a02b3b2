"""What `doctor` looks at on the engine, and from inside a container there."""

import os
from collections.abc import Iterator
from functools import partial

from containers import BUILD
from orchestrator.cli.examination import Examined, Look
from orchestrator.cli.host_looks import disk
from orchestrator.delegates.table import CLIS
from orchestrator.render import named
from sandbox import Engine
from sandbox.images import BASE_IMAGE
from sandbox.kit import Kit
from sandbox.probe import Inside, abilities, ask_through_relay, look_inside, unlimited_disk
from sandbox.stock import others, present
from sandbox.sweep import orphans
from sandbox.toolbox import IMAGE as TOOLBOX_IMAGE

ROOMY_FILES = 100_000
"""Free files below which a container soon cannot make any more."""


def about(engine: Engine) -> Examined:
    """Which engine it is, and where."""
    able = abilities(engine)
    place = os.environ.get("DOCKER_HOST")
    where = f" at {place}" if place else ""
    what = f"Docker Engine {engine.version}, API {able.api}, {engine.architecture}{where}"
    used = engine.runtime or able.runtime
    others = ", ".join(each for each in able.runtimes if each != used)
    return Examined("engine", True, f"{what}; runtime {used} (others: {others or 'none'})")


def looks(engine: Engine, image: str | None) -> Iterator[tuple[str, Look]]:
    """What needs an engine that answers."""
    yield "isolation", lambda: (_isolation(engine),)
    yield "limits", lambda: (_limits(engine),)
    yield "base image", lambda: (_image(engine, "base image", BASE_IMAGE),)
    yield "toolbox", lambda: (_image(engine, "toolbox", TOOLBOX_IMAGE),)
    for cli in CLIS.values():
        yield cli.name, partial(agent, engine, cli.name, cli.kit)
    if present(engine, BASE_IMAGE) and present(engine, TOOLBOX_IMAGE):
        yield "storage", lambda: (_storage(engine),)
        yield "sandbox", lambda: judged(look_inside(engine, BASE_IMAGE))
        yield "relay", lambda: (_relay(engine),)
        if image:
            yield "image", lambda: (_own_image(engine, image),)
    yield "leftovers", lambda: (_leftovers(engine),)


def _isolation(engine: Engine) -> Examined:
    security = abilities(engine).security
    names = ", ".join(name for name in security if name != "unconfined") or "nothing"
    root = "not root of the machine" if {"rootless", "userns"} & set(security) else "the machine's"
    text = f"{names}; root in a container is {root}"
    if "seccomp" in security and "unconfined" not in security:
        return Examined("isolation", True, text)
    fix = "Start the engine with its default seccomp profile, on a kernel that has seccomp."
    return Examined("isolation", False, f"no seccomp filter: {text}", fix=fix)


def _limits(engine: Engine) -> Examined:
    able = abilities(engine)
    text = f"cgroup v{able.cgroups}"
    if not able.unbounded:
        return Examined("limits", True, f"{text}: memory, swap, cpus and processes can be bounded")
    fix = "Enable these cgroup controllers: their limits would not hold."
    found = f"{text}: no bound on {', '.join(able.unbounded)}"
    return Examined("limits", False, found, needed=able.unbounded != ("swap",), fix=fix)


def _image(engine: Engine, name: str, image: str) -> Examined:
    if present(engine, image):
        return Examined(name, True, image)
    return Examined(name, False, f"{image} is not on the engine", fix=f"Run `sh {BUILD}`.")


def agent(engine: Engine, worker: str, kit: Kit) -> Iterator[Examined]:
    """Whether somebody else's program is there, in the version that we know."""
    if present(engine, kit.image):
        yield Examined(worker, True, f"{kit.image}, for --worker {worker}", needed=False)
        return
    found = f"{kit.image} is not on the engine"
    if older := others(engine, kit.image):
        found += f" ({', '.join(older)} is, and not used)"
    fix = f"For --worker {worker} run `{kit.recipe}`."
    yield Examined(worker, False, found, needed=False, fix=fix)


def _storage(engine: Engine) -> Examined:
    driver = abilities(engine).storage
    why = unlimited_disk(engine, BASE_IMAGE)
    if why is None:
        text = f"{driver}: it bounds a container's disk (--storage-opt size)"
        return Examined("storage", True, text, needed=False)
    fix = "For a limit that holds to the byte, put the engine's data on xfs with pquota."
    text = f"{driver}: no quota for a container's disk, which is watched instead"
    return Examined("storage", False, text, needed=False, fix=fix)


def judged(seen: Inside) -> Iterator[Examined]:
    """What the finds of a program in a sandbox mean."""
    yield _seal(seen)
    yield _network(seen)
    yield disk("engine disk", seen.free_bytes, "the engine's own folder")
    if 0 < seen.free_files < ROOMY_FILES:
        text = f"only {seen.free_files:,} files can be made where the engine keeps containers"
        yield Examined("engine files", False, text, fix="Remove images and containers there.")


def _seal(seen: Inside) -> Examined:
    if not seen.holes:
        text = "uid 10001, no capability, no new privileges, seccomp; mount and unshare refused"
        return Examined("sandbox", True, text)
    fix = "Do not run untrusted work here: use an engine with its defaults."
    return Examined("sandbox", False, ", ".join(seen.holes), fix=fix)


def _network(seen: Inside) -> Examined:
    if not seen.network:
        text = "loopback only, without a route; nothing outside is reached"
        return Examined("network", True, text)
    fix = "Do not run untrusted work here: `--network none` does not hold on this engine."
    return Examined("network", False, ", ".join(seen.network), fix=fix)


def _relay(engine: Engine) -> Examined:
    took = ask_through_relay(engine, BASE_IMAGE)
    text = f"a sandbox reaches the gateway on this machine, and nothing else ({took:.2f} s)"
    return Examined("relay", True, text)


def _own_image(engine: Engine, image: str) -> Examined:
    seen = look_inside(engine, image, writable=True)
    if seen.holes or seen.network:
        return Examined("image", False, f"{image}: {', '.join((*seen.holes, *seen.network))}")
    if not seen.writable:
        return Examined("image", True, f"{image} works; no folder is open to every user")
    text = f"{image} works; folders open to every user: {named(seen.writable)}"
    fix = "Nothing to do, but know: what work leaves in them is in no record and in no next run."
    return Examined("image", True, text, fix=fix)


def _leftovers(engine: Engine) -> Examined:
    left = orphans(engine)
    if not left:
        return Examined("leftovers", True, "nothing of dead runs")
    text = named(tuple(f"{each.kind} {each.name}" for each in left))
    fix = "The next run removes them, and `orchestrator gc` does now."
    return Examined("leftovers", False, f"of dead runs: {text}", needed=False, fix=fix)
