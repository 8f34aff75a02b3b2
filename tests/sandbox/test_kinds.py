"""Every kind of image can be prepared, opened and worked in."""

import pytest

from sandbox import BASE_IMAGE, Limits, open_box, prepare
from tests.images_kinds import KINDS, built


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_works_on_every_kind_of_image(prepared_kind, make_box, kind):
    box = make_box(image=prepared_kind(kind))
    said = box.run(["sh", "-c", "id -u; pwd; echo $HOME; cat README.md"])
    assert said.stdout == b"10001\n/workspace\n/home/agent\n# Tiny\n"


@pytest.mark.parametrize(
    "recipe",
    ["chmod 755 /tmp", "rm -r /tmp", "rm -r /tmp && mkdir -m 700 /tmp2 && ln -s tmp2 /tmp"],
)
def test_tmp_is_for_everybody_whatever_the_image_has_there(engine, source, recipe):
    name = built(engine, "orchestrator-test/tmp", f"FROM {BASE_IMAGE}\nRUN {recipe}\n")
    prepared = prepare(engine, name, source).image
    try:
        with open_box(engine, prepared, Limits(), run="test", purpose="work") as box:
            said = box.run(["sh", "-c", "echo x >/tmp/x; stat -Lc %a /tmp"])
        assert (said.stdout, said.stderr) == (b"1777\n", b"")
    finally:
        engine.client.images.remove(prepared, force=True)
        engine.client.images.remove(name, force=True)
