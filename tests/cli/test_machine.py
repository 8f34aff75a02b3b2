"""gc: what is left over."""

import fcntl
import os
import re
import time
from contextlib import suppress

import msgspec
import pytest
from docker.errors import ImageNotFound

from orchestrator.record import Owner
from orchestrator.records import Records
from orchestrator.task import Task
from sandbox.stock import forget
from tests.cli.conftest import git


def begin(home, repository):
    return Records(home).begin(
        Task(repository=".", prompt="mend"),
        repository=str(repository),
        git_dir=repository / ".git",
        base=git("rev-parse", "HEAD"),
        base_tree=git("rev-parse", "HEAD^{tree}"),
    )


def dead(home, repository) -> str:
    """A run whose process is gone, as its record says."""
    with begin(home, repository) as held:
        held.update(owner=Owner(os.getpid(), "an earlier boot", ""))
    return held.record.id


def test_a_killed_run_gets_its_end(repository, orchestrator, home):
    run = dead(home, repository)
    assert orchestrator("gc", "--dry-run", "--json").json[-1]["what"] == f"run {run} as interrupted"
    assert Records(home).load(run).state == "running"
    orchestrator("gc")
    assert Records(home).load(run).state == "interrupted"


def test_nothing_to_remove_is_said(repository, orchestrator, no_engine):
    said = orchestrator("gc")
    assert (said.out, said.err.splitlines()[-1]) == (b"", "There is nothing to remove.")


def test_a_live_run_is_left_alone(repository, orchestrator, home):
    with begin(home, repository) as held:
        orchestrator("gc", "--max-age", "0")
        assert Records(home).load(held.record.id).state == "running"


def test_without_an_engine_records_are_still_tidied(repository, orchestrator, home, no_engine):
    run = dead(home, repository)
    said = orchestrator("gc")
    assert (said.code, "containers and images are left alone" in said.err) == (0, True)
    assert said.text == f"mark run {run} as interrupted\n"


def test_only_old_runs_and_packs_go(repository, orchestrator, home, no_engine):
    runs = []
    for created in (time.time() - 9 * 86_400, time.time()):
        with begin(home, repository) as held:
            runs.append(held.update(state="finished", created=created).id)
    (home / "packs").mkdir()
    for name in ("old.pack", "old.idx", "old-1.inputs", "old-9-1.map", "new.pack", "new-1.inputs"):
        (home / "packs" / name).touch()
    for name in ("old.pack", "old.idx"):
        os.utime(home / "packs" / name, (0, 0))
    said = orchestrator("gc", "--max-age", "7")
    assert said.text == f"remove run {runs[0]}\nremove pack old.pack\n"
    assert [run.id for run in Records(home).all()] == [runs[1]]
    assert sorted(os.listdir(home / "packs")) == ["new-1.inputs", "new.pack"]


def test_a_record_that_cannot_be_read_is_kept(repository, orchestrator, home, no_engine):
    (home / "runs" / "damaged").mkdir(parents=True)
    said = orchestrator("gc", "--max-age", "0")
    assert "the record of run damaged cannot be read" in said.err
    assert (home / "runs" / "damaged").is_dir()


@pytest.fixture
def own(repository, home, orchestrator, engine):
    """Run in a repository that is no other test's; what is told of the image that it made."""
    (repository / "own.txt").write_text(str(home))
    git("add", ".")
    git("commit", "-qm", "own")
    made = []

    def own():
        run = orchestrator("run", "--json", "--", "true").json["id"]
        (prepared,) = (
            event
            for line in orchestrator("log", "--journal", "--json", run).text.splitlines()
            if (event := msgspec.json.decode(line))["kind"] == "prepared"
        )
        made.append(prepared["image"])
        (tag, *_) = sorted(engine.client.images.get(made[-1]).tags)
        return f"image {tag}"

    yield own
    for image in set(made):
        with suppress(ImageNotFound):
            engine.client.images.remove(image, force=True)


def of(said, image: str) -> list[str]:
    """What becomes of an image."""
    return [each["action"] for each in said.json if each["what"] == image]


@pytest.fixture
def old_pieces(orchestrator, repository, home):
    """Pieces of two files that nobody touched for ten days; one of the first file is edited."""
    indexes = {}
    for name in ("edited.txt", "merged.txt"):
        (repository / name).write_text("one\n")
        indexes[name] = orchestrator("split", name, "--json").json
    with open(indexes["edited.txt"]["segments"][0]["path"], "a") as piece:
        piece.write("two\n")
    for path in [home / "pieces", *(home / "pieces").rglob("*")]:
        os.utime(path, (time.time() - 864_000,) * 2)
    return {name: os.path.dirname(index["index_path"]) for name, index in indexes.items()}


def test_old_pieces_go_unless_an_edit_is_not_merged(old_pieces, orchestrator):
    name = os.path.basename(old_pieces["merged.txt"])
    for flag in ("--dry-run", "--json"):
        said = orchestrator("gc", "--json", "--max-age", "5", flag).json
        removed = [each for each in said if "pieces" in each["what"]]
        assert removed == [{"action": "remove", "what": f"pieces {name}"}]
        assert os.path.exists(old_pieces["merged.txt"]) == (flag == "--dry-run")
    assert os.path.exists(old_pieces["edited.txt"])


@pytest.mark.parametrize("flags", [(), ("--max-age", "20")])
def test_young_pieces_stay(old_pieces, orchestrator, flags):
    orchestrator("gc", *flags)
    assert [os.path.exists(place) for place in old_pieces.values()] == [True, True]


def test_pieces_stay_beside_what_is_not_ours(old_pieces, orchestrator):
    with open(f"{old_pieces['merged.txt']}/notes", "w") as file:
        file.write("mine")
    orchestrator("gc", "--max-age", "0")
    assert os.path.exists(f"{old_pieces['merged.txt']}/notes")


def test_old_conversations_go_unless_somebody_goes_on(orchestrator, repository, home):
    place = home / "edits" / "repository-0"
    (place / "archive").mkdir(parents=True)
    names = ("old.jsonl", "held.jsonl", "young.jsonl", "archive/old-1.jsonl")
    for name in names:
        (place / name).write_text("{}\n")
        if name != "young.jsonl":
            os.utime(place / name, (time.time() - 864_000,) * 2)
    with (place / "held.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shown = orchestrator("gc", "-n", "--max-age", "5").text
        assert "would remove conversation repository-0/old.jsonl\n" in shown
        orchestrator("gc", "--max-age", "5")
    assert {str(path.relative_to(place)) for path in place.rglob("*.jsonl")} == {
        "held.jsonl",
        "young.jsonl",
    }


def test_images_are_listed_with_their_size_and_last_use(orchestrator, own, repository):
    image = own()
    (told,) = (each for each in orchestrator("gc", "--json").json if each["what"] == image)
    commit = git("rev-parse", "HEAD")
    place = {"commit": commit, "repository": str(repository)}
    size = {"bytes": told["bytes"], "used": told["used"]}
    assert told == {"action": "keep", "what": image} | size | place
    assert 0 < told["bytes"] < 10_000_000
    assert abs(time.time() - told["used"]) < 60


def test_an_image_that_goes_is_named_for_people(orchestrator, own, repository, engine):
    image = own()
    short = engine.client.images.get(image.partition(" ")[2]).short_id.removeprefix("sha256:")
    shown = orchestrator("gc", "-n", "--max-age", "0").text
    where = rf"of {repository} at {git('rev-parse', 'HEAD')[:10]}"
    facts = r"\(\d+ [kM]B, used (just now|1 minute ago)\)"
    assert re.search(rf"(?m)^would remove prepared image {short} {where} {facts}$", shown)
    assert image not in shown


def test_images_that_stay_are_told_in_one_line(orchestrator, own):
    image = own()
    kept = [line for line in orchestrator("gc", "-n").text.splitlines() if "keep" in line]
    assert (len(kept), image in kept[0]) == (1, False)
    assert image not in orchestrator("gc").text


@pytest.mark.parametrize("limit", [("--max-age", "0"), ("--image-space", "1k")])
def test_images_that_are_old_or_too_many_go(orchestrator, own, limit):
    image = own()
    assert of(orchestrator("gc", "-n", "--json", *limit), image) == ["remove"]
    assert of(orchestrator("gc", "--json", *limit), image) == ["remove"]
    assert of(orchestrator("gc", "--json"), image) == []


def test_images_stay_where_they_fit_and_are_young(orchestrator, own):
    image = own()
    said = orchestrator("gc", "--json", "--max-age", "1", "--image-space", "1g")
    assert of(said, image) == ["keep"]


def test_an_image_that_a_run_of_ours_has_asked_for_stays(orchestrator, home, repository, own):
    with begin(home, repository):
        image = own()
        assert of(orchestrator("gc", "--json", "--max-age", "0"), image) == ["keep"]


def test_images_of_other_homes_are_no_business_of_ours(orchestrator, tmp_path, own):
    image = own()
    other = ("gc", "-n", "--json", "--max-age", "0", "--home", str(tmp_path / "other"))
    assert of(orchestrator(*other), image) == []
    # Who knows whether its run is still at work?
    assert of(orchestrator(*other, "--all"), image) == ["keep"]


def test_other_versions_of_a_program_go_and_the_one_that_is_started_stays(orchestrator, engine):
    kept, old = "orchestrator/claude:2.1.197", "orchestrator/claude:0.0.1-test"
    engine.client.images.get("orchestrator/toolbox:1").tag(*old.split(":"))
    try:
        said = orchestrator("gc", "-n", "--json", "--max-age", "0")
        young = orchestrator("gc", "-n", "--json", "--max-age", "1")
    finally:
        assert forget(engine, old)
    assert (of(said, f"image {old}"), of(young, f"image {old}")) == (["remove"], [])
    assert of(said, f"image {kept}") == []
    assert not forget(engine, old)


def test_a_size_without_its_unit_is_told(orchestrator):
    said = orchestrator("gc", "-n", "--image-space", "20")
    assert (said.code, '20 has no unit: write it like "20g"' in said.err) == (2, True)


def test_a_size_that_is_none_is_told(orchestrator):
    said = orchestrator("gc", "--image-space", "much")
    assert (said.code, "'much' is not a size: write it like" in said.err) == (2, True)
