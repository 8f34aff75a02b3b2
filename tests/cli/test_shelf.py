import time
from math import inf

import pytest

from orchestrator import preparation
from orchestrator.cli.shelf import Deed, Keep, ago, deed, kept, size, stay
from sandbox.stock import Stored

HOUR = 3600


def image(owner: str, hours: float) -> Stored:
    return Stored("i", (), 1, time.time() - hours * HOUR, owner)


@pytest.mark.parametrize(
    ("whose", "hours", "everybodys", "kept"),
    [
        ("ours", 0, False, False),
        ("gone", 2, False, False),
        ("gone", 0.5, False, True),
        ("theirs", 2, False, True),
        ("theirs", 2, True, False),
        ("theirs", 0.5, True, True),
        ("elsewhere", 2, False, True),
        ("nobody", 2, False, True),
        ("nobody", 2, True, False),
    ],
)
def test_whose_images_may_go(tmp_path, whose, hours, everybodys, kept):
    (tmp_path / "theirs").mkdir()
    owner = {
        "gone": preparation.owner(tmp_path / "gone"),
        "theirs": preparation.owner(tmp_path / "theirs"),
        "ours": preparation.owner(tmp_path / "ours"),
        "elsewhere": f"another-machine:{tmp_path}/gone",
        "nobody": "",
    }[whose]
    keep = Keep(tmp_path / "ours", everybodys, began=inf)
    assert keep(image(owner, hours)) is kept


def test_what_a_live_run_may_have_asked_for_stays(tmp_path):
    keep = Keep(tmp_path, False, began=time.time() - HOUR)
    owner = preparation.owner(tmp_path)
    assert [keep(image(owner, hours)) for hours in (0.5, 2)] == [True, False]


def test_what_stays_is_told_in_one_line():
    images = [Stored(name, (), 1_500_000, 0, "") for name in "abc"]
    deeds = [Deed.of("remove run r"), *(deed("keep", each) for each in images[1:])]
    said = "keep 2 prepared images, 3.0 MB; --json lists what is kept"
    assert kept([*deeds, deed("remove", images[0])]) == said


def test_an_image_whose_repository_no_run_tells_is_named_by_its_commit():
    known = Stored("sha256:" + "ab" * 32, ("p:c",), 1_000, time.time(), "", commit="c" * 40)
    facts = "(1.0 kB, used just now)"
    said = f"remove prepared image abababababab at cccccccccc {facts}"
    assert str(deed("remove", known, {"d" * 40: "/r"})) == said
    unborn = Stored("sha256:" + "ab" * 32, (), 1_000, time.time(), "")
    assert str(deed("remove", unborn)) == f"remove prepared image abababababab {facts}"


def test_why_images_stay_when_everything_goes(tmp_path):
    (tmp_path / "theirs").mkdir()
    ours, theirs = (image(preparation.owner(tmp_path / name), 0) for name in ("ours", "theirs"))
    keep = Keep(tmp_path / "ours", False, began=0)
    near = "1 in use or used within the hour"
    foreign = "2 of other homes, which go with --all"
    stands = "will stay, and what they stand on"
    assert stay([ours], keep) == f"1 prepared image {stands}: {near}."
    assert stay([theirs] * 2, keep) == f"2 prepared images {stands}: {foreign}."
    assert stay([ours, theirs, theirs], keep) == f"3 prepared images {stands}: {near}; {foreign}."


def test_sizes_and_ages_are_for_people():
    assert [size(each) for each in (0, 999, 1000, 12_345_678, 3 << 40)] == [
        *("0 B", "999 B", "1.0 kB", "12 MB", "3.3 TB"),
    ]
    now = time.time()
    assert [ago(now - each) for each in (3, 61, 3 * HOUR, 50 * HOUR)] == [
        *("just now", "1 minute ago", "3 hours ago", "2 days ago"),
    ]
