import os
import signal

import pytest

from sandbox import Limits, container
from sandbox.hardening import work_flags
from sandbox.sweep import sweep


@pytest.fixture
def left(engine, image):
    """Create a container with some labels of its own; whatever remains is removed."""
    names = []

    def make(**labels: str) -> str:
        own = container.labels(engine, Limits(), "test", "work") | labels
        flags = work_flags(image, Limits(), toolbox="unused", labels=own)
        flags["HostConfig"]["Mounts"] = []
        name = f"test-sweep-{os.getpid()}-{len(names)}"
        names.append(name)
        engine.client.api.create_container_from_config(flags, name)
        return name

    yield make
    for name in names:
        container.remove(engine.client.api, name)


def exists(engine, name) -> bool:
    return bool(engine.client.api.containers(all=True, filters={"name": name}))


def test_a_killed_owner_loses_its_box_and_a_live_one_keeps_it(engine, owner, box):
    orphan = owner.stdout.readline().decode().strip()
    name = engine.client.api.inspect_container(orphan)["Name"][1:]
    assert name not in sweep(engine)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert name in sweep(engine)
    assert box.lost() is None


@pytest.mark.parametrize(
    "labels",
    [{"host_boot": "another"}, {"host_start": "1"}, {"host_pid": str(2**22 + 1)}],
    ids=["boot", "start", "pid"],
)
def test_an_owner_of_another_boot_or_time_is_dead(engine, left, labels):
    name = left(**labels)
    assert name in sweep(engine)
    assert not exists(engine, name)


@pytest.mark.parametrize("labels", [{"host": "other"}, {"host_user": "other"}, {"app": ""}])
def test_what_is_somebody_elses_stays(engine, left, labels):
    name = left(host_pid="1", host_start="1", host_boot="another", **labels)
    assert name not in sweep(engine)
    assert exists(engine, name)


def test_a_second_sweep_finds_nothing(engine, left):
    left(host_boot="another")
    sweep(engine)
    assert sweep(engine) == ()
