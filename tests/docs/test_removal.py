"""The way to be rid of it all by hand: each command finds what it is for, and removes it.

Others use this engine: what is run is narrowed to objects of our own, and that the command as it
stands finds those too is only looked at.
"""

import secrets
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli.place import home
from sandbox import BASE_IMAGE, Limits, open_box, prepare, toolbox
from sandbox.preparation import LABEL
from tests.test_architecture import ROOT


def commands() -> list[str]:
    block = (
        (ROOT / "docs/sandbox.md").read_text().split("by hand, for every user")[1].split("```")[1]
    )
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def shell(command: str, **env: str) -> list[str]:
    """Run a command; the words it printed."""
    done = subprocess.run(
        ["sh", "-ec", command], check=True, capture_output=True, text=True, env=env or None
    )
    return done.stdout.split()


def listing(word: str) -> tuple[str, str]:
    """The one command about something: what lists it, and what removes what is listed."""
    (command,) = (each for each in commands() if word in each)
    found, _, then = command.partition(" | ")
    return found, then


def removing(word: str, narrow: str, mine: set[str], instead_of: str = "") -> None:
    """The command finds ours as it stands; narrowed, it finds nothing else and removes them."""
    found, then = listing(word)
    assert mine <= set(shell(found))
    narrowed = found.replace(instead_of, "") + f" {narrow}"
    assert set(shell(narrowed)) == mine
    shell(f"{narrowed} | {then}")
    assert shell(narrowed) == []


def test_containers_of_runs_are_found_and_removed(engine, image):
    run = f"removal-{secrets.token_hex(4)}"
    with open_box(engine, image, Limits(), run=run, purpose="work") as box:
        removing("label=app=orchestrator", f"--filter label=run={run}", {box.id[:12]})
        assert box.lost()


def test_toolboxes_are_found_and_removed_with_their_volumes(engine):
    volume = toolbox.filled(engine, {"own.py": b"# %d\n" % secrets.randbits(64)})
    container = engine.client.containers.get(volume.rpartition("-")[0])
    name = f"--filter name=^/{container.name}$"
    removing("label=orchestrator.toolbox", name, {container.short_id[:12]})
    every = "--filter name=^orchestrator-toolbox-"
    removing(every, f"--filter name=^{volume}$", {volume}, every)


@pytest.fixture
def prepared(engine, make_source):
    """A prepared image of our own."""
    given = make_source({"README.md": secrets.token_hex(8).encode()})
    image = engine.client.images.get(prepare(engine, BASE_IMAGE, given).image)
    yield image
    if _there(engine, image.id):
        engine.client.images.remove(image.id, force=True)


def _there(engine, image: str) -> bool:
    return image in {each["Id"] for each in engine.client.api.images(all=True)}


def test_images_are_found_and_removed(engine, prepared):
    assert len(prepared.tags) == 2
    assert {BASE_IMAGE, toolbox.IMAGE} <= set(shell(listing("docker image ls")[0]))
    narrow = " ".join(f"--filter=reference={tag}" for tag in prepared.tags)
    removing("docker image ls", narrow, set(prepared.tags), "'orchestrator/*'")
    assert not _there(engine, prepared.id)


def test_an_image_that_was_never_finished_is_found_and_removed(engine, image):
    mark = secrets.token_hex(8)
    container = engine.client.containers.create(image, "true")
    unborn = container.commit(changes=f'LABEL {LABEL}="{{}}" removal={mark}')
    container.remove()
    (command,) = (each for each in commands() if "prune" in each)
    wide = command.replace("docker image prune -f", "docker image ls -q --filter dangling=true")
    assert unborn.short_id.removeprefix("sha256:") in shell(wide)
    shell(f"{command} --filter label=removal={mark}")
    assert not _there(engine, unborn.id)


def test_the_folder_of_runs_is_the_one_that_is_used(tmp_path, monkeypatch):
    for name in ("XDG_STATE_HOME", "ORCHESTRATOR_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (home() / "runs").mkdir(parents=True)
    (command,) = (each for each in commands() if each.startswith("rm "))
    shell(command, HOME=str(tmp_path), PATH="/usr/bin:/bin")
    assert (home().exists(), list(Path(tmp_path).glob(".local/state/*"))) == (False, [])


def test_no_command_is_left_out():
    assert len(commands()) == 6
