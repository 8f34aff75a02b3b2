"""Set-up, and a later commit over it, on every kind of image."""

import pytest

from sandbox.snapshot import rehash
from tests.images_kinds import KINDS
from tests.project import MANIFEST, Project, said

SETUP = 'mkdir -p "$HOME/.cache" && echo filled >"$HOME/.cache/x" && chmod -R go= "$HOME/.cache"'
WORK = """
cat ~/.cache/x
echo more >>~/.cache/x && echo new >~/.cache/y && cat app.py
id -u
echo "$HOME"
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_that_set_up_filled_is_there_and_writable_at_a_later_commit(
    engine, kinds, tmp_path, kind
):
    project = Project.create(engine, tmp_path, {**MANIFEST, "app.py": b"one\n"})
    try:
        project.prepare(SETUP, image=kinds[kind])
        project.commit({"app.py": b"two\n"})
        later = project.prepare(SETUP, image=kinds[kind])
        assert later.reused
        with project.open(later) as box:
            assert said(box, WORK) == "filled\ntwo\n10001\n/home/agent\n"
            assert rehash(box.channel) == project.git("rev-parse", "HEAD^{tree}")
    finally:
        project.remove()


@pytest.mark.parametrize(
    ("kind", "script", "start"),
    [
        ("odd", 'echo "$GOPATH $PYTHONHOME"', "/go /nowhere\n"),
        (
            "writable",
            'echo "$CARGO_HOME $PATH"; echo x >$CARGO_HOME/x',
            "/usr/local/cargo /go/bin:",
        ),
    ],
)
def test_what_an_image_sets_for_its_commands_holds(prepared_kind, make_box, kind, script, start):
    assert said(make_box(image=prepared_kind(kind)), script).startswith(start)
