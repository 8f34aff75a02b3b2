"""Probes tell a sandbox that holds from one that does not."""

import io
import os

import pytest

from sandbox import container, probe, toolbox
from sandbox.errors import ImageError
from sandbox.hardening import work_flags
from sandbox.images import BASE_IMAGE


@pytest.fixture
def opened(engine):
    """What a probe finds in a container whose seal was broken on purpose."""

    def look(**host: object) -> probe.Inside:
        labels = container.labels(engine, probe.SMALL, run="", purpose="probe")
        volume = toolbox.volume(engine)
        flags = work_flags(BASE_IMAGE, probe.SMALL, toolbox=volume, labels=labels)
        flags["HostConfig"] |= host
        with container.running(engine, flags) as identity:
            return probe.look_around(engine, identity)

    return look


def test_a_sandbox_has_no_hole_and_no_network(engine):
    seen = probe.look_inside(engine, BASE_IMAGE)
    assert (seen.holes, seen.network, seen.writable) == ((), (), ())
    assert seen.free_bytes > 0


def test_an_open_seal_is_seen(opened):
    seen = opened(CapAdd=["NET_RAW"], CapDrop=[], SecurityOpt=["seccomp=unconfined"])
    assert {"NoNewPrivs is 0", "no seccomp filter", "unshare works"} <= set(seen.holes)
    assert any(hole.startswith("CapBnd is ") for hole in seen.holes)


def test_a_network_is_seen(engine, opened):
    (gateway,) = probe._gateways(engine)
    seen = opened(NetworkMode="bridge", ExtraHosts=[])
    assert "interface eth0" in seen.network
    assert f"{gateway} answers" in seen.network
    assert any(each.startswith("route eth0\t00000000\t") for each in seen.network)


def test_folders_that_are_open_to_all_are_named(engine):
    recipe = f"FROM {BASE_IMAGE}\nRUN mkdir -m 777 /go /go/src && mkdir -m 1777 /shared"
    tag = "orchestrator-test/open"
    engine.client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=tag, rm=True)
    try:
        seen = probe.look_inside(engine, tag, writable=True)
    finally:
        engine.client.images.remove(tag)
    assert {"/go", "/go/src", "/shared"} <= set(seen.writable)
    assert "/tmp" not in seen.writable
    assert seen.holes == ()


def test_a_relay_is_tried_and_removed(engine):
    assert 0 < probe.ask_through_relay(engine, BASE_IMAGE) < 20
    wanted = {"label": ["purpose=relay", f"host_pid={os.getpid()}"]}
    assert engine.client.api.containers(all=True, filters=wanted) == []


def test_a_missing_image_is_told_and_nothing_is_left(engine):
    with pytest.raises(ImageError, match="no/such:image is missing"):
        probe.look_inside(engine, "no/such:image")
    wanted = {"label": ["purpose=probe", f"host_pid={os.getpid()}"]}
    assert engine.client.api.containers(all=True, filters=wanted) == []


def test_an_engine_without_a_quota_says_why_and_keeps_nothing(engine):
    why = probe.unlimited_disk(engine, BASE_IMAGE)
    assert why is None or "storage" in why.lower() or "quota" in why.lower()
    wanted = {"label": ["purpose=probe", f"host_pid={os.getpid()}"]}
    assert engine.client.api.containers(all=True, filters=wanted) == []


def test_an_engine_is_asked_for_what_it_can(engine):
    able = probe.abilities(engine)
    assert able.runtime in able.runtimes
    assert "seccomp" in able.security
    assert "unconfined" not in able.security
    assert "memory" not in able.unbounded


def test_an_unconfined_profile_is_no_seccomp():
    assert probe._security(["name=seccomp,profile=unconfined", "name=userns"]) == (
        *("seccomp", "userns", "unconfined"),
    )
