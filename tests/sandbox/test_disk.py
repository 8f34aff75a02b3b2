import threading

import pytest

from sandbox import Limits, container, toolbox
from sandbox.disk import Room, has_quota, knows_quotas
from sandbox.hardening import work_flags
from sandbox.limits import shown


@pytest.mark.parametrize(
    ("driver", "system", "may"),
    [
        ("overlay2", "extfs", False),
        ("overlay2", "xfs", True),
        ("zfs", "", True),
        ("btrfs", "", False),
    ],
)
def test_storage_that_may_know_quotas_is_told_by_its_driver(driver, system, may):
    assert knows_quotas(driver, system) is may


def test_this_engine_says_what_its_storage_is(engine):
    facts = engine.client.api.info()
    below = dict(facts["DriverStatus"]).get("Backing Filesystem")
    known = (facts["Driver"], below) == ("overlay2", "xfs") or facts["Driver"] == "zfs"
    assert has_quota(engine) is known


def test_an_engine_that_refuses_a_quota_starts_without_one(engine, image):
    limits, labels = Limits(disk=1 << 30), container.labels(engine, Limits(), "test", "work")
    flags = work_flags(image, limits, toolbox=toolbox.volume(engine), labels=labels, quota=True)
    with container.running(engine, flags) as identity:
        assert container.lost(engine.client.api, identity) is None


def test_half_of_what_is_free_stays_free_on_a_small_disk():
    floor = Room(1000, 100).spare()
    assert floor == Room(500, 50)
    assert [Room(*left).below(floor) for left in ((500, 50), (499, 50), (500, 49))] == [
        False,
        True,
        True,
    ]


def test_a_large_disk_may_be_used_up_to_a_fixed_rest():
    assert Room(1 << 40, 1 << 30).spare() == Room(1 << 30, 50_000)


def test_the_watch_ends_with_the_box(make_box, engine, image):
    before = threading.active_count()
    make_box().reopen()
    assert threading.active_count() == before + 1  # one for the open container, none for the old


@pytest.mark.parametrize(
    ("size", "text"), [(4 << 30, "4g"), (1536 << 20, "1536m"), (1 << 10, "1k"), (1001, "1001")]
)
def test_sizes_are_shown_as_settings_write_them(size, text):
    assert shown(size) == text
