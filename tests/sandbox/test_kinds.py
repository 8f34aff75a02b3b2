"""Every kind of image can be prepared, opened and worked in."""

import pytest

from tests.images_kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_works_on_every_kind_of_image(prepared_kind, make_box, kind):
    box = make_box(image=prepared_kind(kind))
    said = box.run(["sh", "-c", "id -u; pwd; echo $HOME; cat README.md"])
    assert said.stdout == b"10001\n/workspace\n/home/agent\n# Tiny\n"
