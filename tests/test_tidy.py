"""What is left on the engine at the end of the tests."""

from math import inf
from pathlib import Path

import pytest

from orchestrator.events import Prepared
from orchestrator.journal import Journal
from orchestrator.preparation import owner
from sandbox.stock import present
from tests.project import MANIFEST, Project
from tests.tidy import remove_images

AT_ONCE = {"still": 0.0}
NEVER_AGAIN, ALWAYS_AGAIN = inf, 0.0


@pytest.fixture
def project(engine, tmp_path):
    project = Project.create(engine, tmp_path, {**MANIFEST, "app.py": b"one\n"})
    project.owner = owner(tmp_path / "home")
    yield project
    project.remove()


def test_images_of_a_folder_of_homes_go_with_what_they_stand_on(engine, project, tmp_path):
    made = [project.prepare("true").image]
    project.commit({"app.py": b"two\n"})
    made.append(project.prepare("true").image)
    assert remove_images(engine, tmp_path, once=NEVER_AGAIN, **AT_ONCE) == 2
    assert [present(engine, image) for image in made] == [False, False]
    project.made.clear()


def test_what_others_may_need_stays(engine, project, tmp_path):
    made = project.prepare().image
    asked_for_again = remove_images(engine, tmp_path, once=ALWAYS_AGAIN, **AT_ONCE)
    of_now = remove_images(engine, tmp_path, once=NEVER_AGAIN, still=600.0)
    of_other_folders = [
        remove_images(engine, tmp_path / name, once=NEVER_AGAIN, **AT_ONCE)
        for name in ("ho", "home", "home/inner")
    ]
    assert (asked_for_again, of_now, of_other_folders) == (0, 0, [0, 0, 0])
    assert present(engine, made)


def tell(run: Path, image: str) -> None:
    """Write in a run's journal that it was given an image."""
    run.mkdir(parents=True)
    with Journal(run / "journal.jsonl") as journal:
        journal.write(Prepared(image=image, cached=False, seconds=1.0))


def test_what_another_session_was_given_at_once_after_ours_stays(engine, project, tmp_path):
    made = project.prepare()
    tell(tmp_path / "home" / "runs" / "r1", made.image)
    project.prepare()
    assert remove_images(engine, tmp_path, once=NEVER_AGAIN, **AT_ONCE) == 0
    assert present(engine, made.image)


def test_what_only_a_run_of_ours_was_given_goes(engine, project, tmp_path):
    made = project.prepare()
    tell(tmp_path / "home" / "runs" / "r1", made.image)
    assert remove_images(engine, tmp_path, once=ALWAYS_AGAIN, **AT_ONCE) == 1
    project.made.clear()
