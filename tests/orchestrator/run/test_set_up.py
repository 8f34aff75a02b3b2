"""What set-up leaves in the tree is not the work's."""

from orchestrator.events import Changed, Prepared
from orchestrator.outcome import Outcome

PROJECT = b"from setuptools import setup\nsetup(name='tiny', version='1.0', packages=[])\n"
INSTALL = "pip install --quiet --no-build-isolation --no-deps --editable ."


def test_an_editable_install_leaves_nothing_in_the_first_change(desk_with):
    desk = desk_with({"setup.py": PROJECT})
    ran = desk.run("pip show --quiet tiny && echo more >>README.md", setup=(INSTALL,))
    (prepared,) = ran.told(Prepared)
    (change,) = ran.told(Changed)
    assert {path.partition("/")[0] for path in prepared.left} == {"tiny.egg-info"}
    assert (ran.record.outcome, change.files, change.added) == (Outcome.DONE, 1, 1)
