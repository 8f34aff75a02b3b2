"""What dead owners left goes; what anybody alive could need stays."""

import os
import secrets
import time
from dataclasses import replace

import pytest
from docker.types import Mount

from sandbox import Limits, container, open_box
from sandbox.hardening import work_flags
from sandbox.owner import MAKER, Owner
from sandbox.preparation import LABEL as PREPARED
from sandbox.sweep import Orphan, sweep
from sandbox.toolbox import LABEL as TOOLBOX
from tests.swept import is_swept

DEAD = {"host_boot": "another"}
LONG_AGO = str(int(time.time()) - 100_000)


def maker(**changes: str) -> str:
    return replace(Owner.of_this_process(), **changes).text


@pytest.fixture
def left(engine, image):
    """Create a container with some labels of its own; whatever remains is removed."""
    names = []

    def make(*, beside: str = "", **labels: str) -> str:
        name = f"test-sweep-{secrets.token_hex(4)}"
        own = container.labels(engine, Limits(), "test", "work") | {"name": name} | labels
        flags = work_flags(image, Limits(), toolbox="unused", labels=own)
        flags["HostConfig"]["Mounts"] = []
        if beside:
            flags["HostConfig"]["NetworkMode"] = f"container:{beside}"
            del flags["Hostname"], flags["HostConfig"]["ExtraHosts"]
        names.append(name)
        engine.client.api.create_container_from_config(flags, name)
        return name

    yield make
    for name in names:
        container.remove(engine.client.api, name)


@pytest.fixture
def keep(engine):
    """Remove, at the end, what a test committed from a container."""
    images = []

    def commit(name: str, **labels: str) -> str:
        made = engine.client.api.commit(name, conf={"Labels": labels})
        images.append(made["Id"])
        return made["Id"]

    yield commit
    for image in images:
        if engine.client.api.images(quiet=True, all=True).count(image):
            engine.client.images.remove(image, force=True)


def exists(engine, name, kind="container") -> bool:
    """Whether it is on the engine; another test's run may have swept it before ours could."""
    api = engine.client.api
    match kind:
        case "container":
            return bool(api.containers(all=True, filters={"name": name}))
        case "network":
            return name in [each["Name"] for each in api.networks()]
        case "volume":
            return name in [each["Name"] for each in api.volumes()["Volumes"] or ()]
        case "image":
            return name in api.images(quiet=True, all=True)


def test_a_killed_owner_loses_its_box_and_a_live_one_keeps_it(engine, owner, box):
    orphan = owner.stdout.readline().decode().strip()
    name = engine.client.api.inspect_container(orphan)["Name"][1:]
    sweep(engine)
    assert exists(engine, name)
    owner.kill()
    owner.wait()
    assert is_swept(engine, lambda: exists(engine, name))
    assert box.lost() is None


@pytest.mark.parametrize(
    "labels",
    [DEAD, {"host_start": "1"}, {"host_pid": str(2**22 + 1)}, {"host_pid": "9" * 30}],
    ids=["boot", "start", "pid", "long pid"],
)
def test_an_owner_of_another_boot_or_time_is_dead(engine, left, labels):
    name = left(**labels)
    assert is_swept(engine, lambda: exists(engine, name))


@pytest.mark.parametrize(
    "labels",
    [{"host": "other"}, {"host_id": "other"}, {"host_user": "other"}, {"app": ""}, {"name": "x"}],
    ids=lambda labels: next(iter(labels)),
)
def test_what_is_somebody_elses_stays(engine, left, labels):
    name = left(**DEAD, **labels)
    sweep(engine)
    assert exists(engine, name)


@pytest.mark.parametrize(
    "labels",
    [{"host_pids": "pid:[1]", "host_pid": str(2**22 + 1)}, {"host_pid": "?"}],
    ids=["namespace", "pid"],
)
def test_an_owner_that_cannot_be_asked_keeps_its_container(engine, left, labels):
    name = left(**labels)
    sweep(engine)
    assert exists(engine, name)


def test_what_nobody_here_can_judge_goes_a_day_after_its_time_limit(engine, left):
    name = left(host="other", deadline=LONG_AGO)
    assert is_swept(engine, lambda: exists(engine, name))


def test_what_still_runs_past_its_time_limit_is_its_owners(engine, left):
    name = left(host="other", deadline=LONG_AGO, host_pid="1")
    mine = left(deadline=LONG_AGO)
    flags = engine.client.api.inspect_container(name)["Config"]
    assert flags["Labels"]["deadline"] == LONG_AGO
    sweep(engine)
    assert exists(engine, mine)


def test_labels_of_another_product_do_not_stop_a_sweep(engine, left):
    name = left(host_boot="", host_pid="", deadline="soon", host="other")
    sweep(engine)
    assert exists(engine, name)


def test_an_image_made_of_a_container_of_ours_gets_nothing_swept(engine, left, keep):
    old = keep(left(), **DEAD)
    theirs = f"test-sweep-{secrets.token_hex(4)}"
    engine.client.api.create_container(old, ["true"], name=theirs)
    try:
        inherited = engine.client.api.inspect_container(theirs)["Config"]["Labels"]
        assert inherited["host_boot"] == "another"
        with open_box(engine, old, Limits(), run="test", purpose="work") as box:
            sweep(engine)
            assert box.run(["echo", "fine"], cwd="/").stdout == b"fine\n"
            assert exists(engine, theirs)
    finally:
        container.remove(engine.client.api, theirs)


def test_a_neighbour_goes_when_its_sandbox_is_gone(engine, left, box):
    sandbox = left()
    identity = engine.client.api.inspect_container(sandbox)["Id"]
    lonely, beside = left(beside=identity), left(beside=box.id)
    sweep(engine)
    assert exists(engine, lonely)
    container.remove(engine.client.api, sandbox)
    assert is_swept(engine, lambda: exists(engine, lonely))
    assert exists(engine, beside)


def test_an_image_that_a_killed_preparation_left_goes(engine, left, keep):
    name = left()
    dead = keep(name, **{PREPARED: "{}", MAKER: maker(**DEAD)})
    alive = keep(name, **{PREPARED: "{}", MAKER: maker()})
    unknown = keep(name, **{PREPARED: "{}", MAKER: ""})
    assert is_swept(engine, lambda: exists(engine, dead, "image"))
    assert [exists(engine, each, "image") for each in (alive, unknown)] == [True, True]


def test_a_toolbox_whose_filling_was_cut_off_goes(engine):
    names = {}
    for state, changes in (("dead", DEAD), ("alive", {})):
        names[state] = f"orchestrator-toolbox-test-{secrets.token_hex(4)}"
        labels = {TOOLBOX: "orchestrator-toolbox-test", MAKER: maker(**changes)}
        engine.client.volumes.create(names[state], labels=labels)
    assert is_swept(engine, lambda: exists(engine, names["dead"], "volume"))
    engine.client.volumes.get(names["alive"]).remove()


def test_volumes_go_with_their_owner(engine):
    labels = engine.host_labels()
    dead = engine.client.volumes.create(labels=labels | DEAD)
    alive = engine.client.volumes.create(labels=labels)
    assert is_swept(engine, lambda: exists(engine, dead.name, "volume"))
    assert exists(engine, alive.name, "volume")
    alive.remove()


def test_networks_go_with_their_owner(engine):
    labels = engine.host_labels()
    name = f"test-sweep-{secrets.token_hex(4)}"
    api = engine.client.api
    api.create_network(f"{name}-dead", internal=True, labels=labels | DEAD)
    api.create_network(name, internal=True, labels=labels)
    assert is_swept(engine, lambda: exists(engine, f"{name}-dead", "network"))
    assert exists(engine, name, "network")
    api.remove_network(name)


def test_what_cannot_be_removed_stops_nobody(engine, left):
    volume = f"test-sweep-{secrets.token_hex(4)}"
    # Made with its holder: by itself another test's sweep could take it before.
    held = Mount("/held", volume, labels=engine.host_labels() | DEAD)
    holder = engine.client.containers.create("orchestrator/base:1", ["true"], mounts=[held])
    dead = left(**DEAD)
    assert is_swept(engine, lambda: exists(engine, dead))
    assert exists(engine, volume, "volume")
    holder.remove()
    assert is_swept(engine, lambda: exists(engine, volume, "volume"))


def test_what_was_removed_is_told_once(engine, left):
    # The run of another test may sweep at the same moment, but hardly five times.
    told = False
    for _ in range(5):
        orphan = Orphan("container", left(**DEAD))
        told |= orphan in sweep(engine)
        assert is_swept(engine, lambda name=orphan.name: exists(engine, name))
        assert orphan not in sweep(engine)
    assert told


def test_who_we_are_can_be_written_down_and_read_back():
    us = Owner.of_this_process()
    assert (Owner.read(us.labels), Owner.parse(us.text), us.fate()) == (us, us, "lives")
    assert us.host_pid == str(os.getpid())
    assert Owner.parse("") is None
