import threading
import time

import pytest

from sandbox import Limits, container, disk, toolbox
from sandbox.disk import LEAST, Left, Room, Watch, full, has_quota, knows_quotas
from sandbox.errors import DiskFullError, SandboxLostError
from sandbox.hardening import work_flags
from sandbox.limits import shown
from tests.played import Played, served

ROOMY = Room(1 << 40, 1 << 20)


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
    before = set(threading.enumerate())  # of which some may end meanwhile
    make_box().reopen()
    watches = [each for each in set(threading.enumerate()) - before if "(keep)" in each.name]
    assert len(watches) == 1  # one for the open container, none for the old


@pytest.mark.parametrize("small", [Room(LEAST.size - 1, 1 << 20), Room(1 << 40, LEAST.files - 1)])
def test_a_disk_is_full_with_little_room_left_and_so_is_the_memory_for_files(small):
    on_disk, in_memory = Limits(), Limits(workspace="memory")
    assert "`disk` under [sandbox] (it is 20g)" in full(Left(small, ROOMY), on_disk)
    assert "`memory` under [sandbox] (it is 4g, of" in full(Left(ROOMY, small), in_memory)
    assert (full(Left(ROOMY, ROOMY), in_memory), full(Left(LEAST, LEAST), on_disk)) == ("", "")


def test_a_sandbox_without_any_room_left_is_ended(make_box):
    box = make_box()
    with pytest.raises(DiskFullError, match="disk is full"):
        box.require_room(Left(Room(0, 1 << 20), ROOMY))
    assert box.lost().limit == "disk"


def test_a_snapshot_tells_the_room_that_is_left(make_box, source, tmp_path):
    box = make_box(Limits(workspace="memory", memory=256 << 20))
    before = box.snapshot(source.tree, tmp_path / "pack").left
    box.run(["sh", "-c", "head -c 50000000 /dev/zero > x.log"])
    after = box.snapshot(source.tree, tmp_path / "pack").left
    assert 50_000_000 <= before.workspace.size - after.workspace.size < 51_000_000
    assert after.workspace.size < 128 << 20 < after.root.size


def test_a_snapshot_that_is_remembered_tells_the_room_of_now(make_box, source, tmp_path):
    box = make_box(Limits(workspace="memory", memory=256 << 20))
    time.sleep(0.2)
    told = [box.snapshot(source.tree, tmp_path / "pack").left for _ in range(2)]
    box.run(["sh", "-c", "mkdir .git/x; head -c 50000000 /dev/zero > .git/x/y"])
    told.append(box.snapshot(source.tree, tmp_path / "pack").left)
    first, second, third = (left.workspace.size for left in told)
    assert (first, second - third > 50_000_000) == (second, True)


@pytest.fixture
def unwatched(make_box, monkeypatch):
    """A box with 64 MiB that no watch looks at by itself, nor any quota holds."""
    monkeypatch.setattr(disk, "has_quota", lambda engine: False)
    monkeypatch.setattr(disk, "INTERVAL", 600.0)
    monkeypatch.setattr(disk, "QUICK", 600.0)  # a busy engine may need longer than usual
    return make_box(Limits(disk=64 << 20))


FILL = ["sh", "-c", "head -c 100000000 /dev/zero > ~/x"]


def test_who_asks_whether_a_sandbox_lives_has_its_files_counted(unwatched):
    assert unwatched.lost() is None
    unwatched.run(FILL)
    assert (unwatched.lost().limit, unwatched.lost().limit) == ("disk", "disk")


def test_whoever_looks_at_an_ended_sandbox_is_told_how_large_it_could_be(unwatched, engine):
    unwatched.run(FILL)
    told = unwatched.lost(), container.death(engine.client.api, unwatched.id)
    assert ["raise `disk` under [sandbox] (it is 64m)" in str(each) for each in told] == [True] * 2


def test_files_whose_count_is_slow_are_counted_only_where_much_room_went(unwatched, monkeypatch):
    unwatched.require_room(Left(ROOMY, ROOMY))
    monkeypatch.setattr(disk, "QUICK", 0.0)
    unwatched.run(FILL)
    assert unwatched.lost() is None
    unwatched.require_room(Left(Room(ROOMY.size - (31 << 20), 1 << 20), ROOMY))
    with pytest.raises(SandboxLostError, match="disk limit"):
        unwatched.require_room(Left(Room(ROOMY.size - (32 << 20), 1 << 20), ROOMY))


class Counting(Played):
    """An engine with one container, that is asked how large it is."""

    used = 0
    looks = 0
    ended = ()

    def do_GET(self):
        type(self).looks += 1
        self.say(200, [{"Id": "c", "SizeRw": self.used}])

    def do_POST(self):
        type(self).ended += (self.path.rpartition("/")[2],)
        self.say(204, None)


def test_each_look_is_worth_its_time(monkeypatch):
    monkeypatch.setattr(disk, "QUICK", 600.0)

    class Counted(Counting):
        used = 60

    with served(Counted) as engine:
        watch = Watch(engine, "c", 100)
        looks = []
        for free in (1000, 1000, 981, 980, 980, 961, 960, 2000, 0):
            watch.told(free)
            looks.append(Counted.looks)
        assert looks == [1, 1, 1, 2, 2, 2, 3, 3, 4]
        Counted.used = 101
        assert (watch.over, watch.quick(), watch.over.limit) == (None, False, "disk")
    assert Counted.ended == ("kill?signal=25",)


@pytest.mark.parametrize(
    ("size", "text"), [(4 << 30, "4g"), (1536 << 20, "1536m"), (1 << 10, "1k"), (1001, "1001")]
)
def test_sizes_are_shown_as_settings_write_them(size, text):
    assert shown(size) == text
