"""gc --everything: all that we keep goes, and nothing of anybody else's."""

import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from docker.errors import ImageNotFound

from orchestrator.records import Records
from sandbox import BASE_IMAGE, prepare, toolbox
from sandbox.stock import present
from tests.cli.conftest import git
from tests.cli.test_machine import begin
from tests.played import Played, listening


@pytest.fixture
def anothers(engine, make_source):
    """An image of nobody we know: with it, all that it stands on has to stay on this engine."""
    given = make_source({"README.md": secrets.token_hex(8).encode()})
    image = prepare(engine, BASE_IMAGE, given).image
    yield image
    with suppress(ImageNotFound):
        engine.client.images.remove(image, force=True)


def files(home: Path) -> set[Path]:
    return {path for path in home.rglob("*") if path.suffix != ".lock"}


def test_all_that_is_kept_goes_but_for_branches(orchestrator, mended, home, engine, anothers):
    orchestrator("split", "sums.py")
    for name in ("clones", "logs"):
        (home / name).mkdir()
    before = files(home)
    shown = orchestrator("gc", "-n", "--everything").text
    assert f"would remove run {mended}\n" in shown
    assert files(home) == before
    said = orchestrator("gc", "--everything")
    assert f"remove run {mended}\n" in said.text
    assert not home.exists()
    assert git("branch", "--list", f"agent/{mended}")
    kept = (anothers, BASE_IMAGE, toolbox.IMAGE)
    assert [present(engine, name) for name in kept] == [True, True, True]
    assert "and what they stand on" in said.err


def test_a_live_run_keeps_what_it_needs(orchestrator, repository, home, no_engine):
    (home / "clones").mkdir(parents=True)
    with begin(home, repository) as held:
        said = orchestrator("gc", "--everything")
        assert f"run {held.record.id} is at work" in said.err
        assert Records(home).load(held.record.id).state == "running"
    assert (home / "clones").is_dir()


@pytest.fixture
def piece(orchestrator, repository) -> Path:
    """A piece of a file."""
    return Path(orchestrator("split", "sums.py", "--json").json["segments"][0]["path"])


def test_an_edit_that_is_not_merged_stays_and_is_named(orchestrator, piece, deserted):
    piece.write_text("edited\n")
    said = orchestrator("gc", "--everything")
    assert said.err == (
        f"note: {piece.parent} stays. Piece 1 was edited and not merged: merge that with"
        f" `orchestrator patch --index {piece.parent}/index.json`, or drop it with the same and"
        " --discard.\n"
    )
    assert piece.read_text() == "edited\n"
    assert orchestrator("patch", "--index", str(piece.parent)).code == 0


@pytest.mark.parametrize("settled", ["--discard", "--force"])
def test_a_conflict_that_was_settled_goes(orchestrator, piece, home, deserted, settled):
    piece.write_text("edited\n")
    Path("sums.py").write_text("changed\n")
    assert orchestrator("patch", "--index", str(piece.parent), "--force").code == 1
    assert f"note: {piece.parent} stays. Piece 1" in orchestrator("gc", "--everything").err
    Path("sums.py").write_text("edited\n")
    assert orchestrator("patch", "--index", str(piece.parent), settled).code == 0
    assert orchestrator("gc", "--everything").err == ""
    assert not home.exists()


def test_an_edit_of_a_file_that_is_gone_is_named(orchestrator, piece, deserted):
    piece.write_text("edited\n")
    gone = Path("sums.py").absolute()
    gone.unlink()
    said = f"Piece 1 was edited and not merged, and {gone} is gone: delete it if that is not needed"
    assert f"{piece.parent} stays. {said}.\n" in orchestrator("gc", "--everything").err
    shutil.rmtree(piece.parent)
    assert orchestrator("gc", "--everything").err == ""


def test_a_folder_of_pieces_with_something_else_in_it_is_named(orchestrator, piece, deserted):
    (piece.parent / "notes").touch()
    said = "Not all in it is as `orchestrator split` wrote it: delete it if nothing there is needed"
    assert f"{piece.parent} stays. {said}.\n" in orchestrator("gc", "--everything").err


def test_a_run_whose_record_is_damaged_goes_too(orchestrator, home, no_engine):
    (home / "runs" / "damaged").mkdir(parents=True)
    assert orchestrator("gc", "--everything").text == "remove run damaged\n"
    assert not home.exists()


def test_what_others_put_into_the_home_stays(orchestrator, home, no_engine):
    (home / "logs").mkdir(parents=True)
    (home / "mine").touch()
    assert orchestrator("gc", "--everything").text == f"remove {home}/logs\n"
    assert [*home.iterdir()] == [home / "mine"]


def test_it_goes_by_no_age(orchestrator):
    said = orchestrator("gc", "--everything", "--max-age", "3")
    assert (said.code, "--everything goes by no age and no size" in said.err) == (2, True)


class Deserted(Played):
    """An engine with built images, ours and another's, and no prepared one."""

    names = ("orchestrator/base:1", "orchestrator/codex:9", "orchestrator-test/a:1", "debian:12")
    removed: list[str]

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.endswith("/version"):
            facts = {"ApiVersion": "1.41", "Version": "20.10", "Os": "linux", "Arch": "amd64"}
            return self.say(200, facts)
        if path.endswith("/images/json") and "filter" not in self.path:
            return self.say(200, [{"Id": name, "RepoTags": [name]} for name in self.names])
        return self.say(200, {"Volumes": []} if path.endswith("/volumes") else [])

    def do_DELETE(self):
        self.removed.append(unquote(self.path.partition("/images/")[2].partition("?")[0]))
        self.say(200, [])


@pytest.fixture
def deserted(monkeypatch):
    """The names of images that are removed from that engine."""
    Deserted.removed = []
    with listening(Deserted) as address:
        monkeypatch.setenv("DOCKER_HOST", address)
        yield Deserted.removed


def test_what_all_runs_stand_on_goes_with_the_last_prepared_image(orchestrator, home, deserted):
    ours = ["orchestrator/base:1", "orchestrator/codex:9"]
    shown = orchestrator("gc", "-n", "--everything", "--json").json
    assert ([each["what"] for each in shown], deserted) == ([f"image {n}" for n in ours], [])
    orchestrator("gc", "--everything")
    assert deserted == ours


def test_what_a_live_run_may_stand_on_stays(orchestrator, home, repository, deserted):
    with begin(home, repository):
        orchestrator("gc", "--everything")
    assert deserted == []
