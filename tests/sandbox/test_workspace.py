"""/workspace in memory: the same files as on disk, and no more than fit."""

import pytest

from sandbox import BASE_IMAGE, Limits, prepare
from sandbox.errors import DiskFullError, ImageError

SETUP = """
mkdir -p egg/deep && printf x >"$(printf 'egg/n\\377\\nx')" && ln -s deep egg/link
ln egg/n* egg/hard && chmod 0750 egg/hard && mkfifo egg/pipe && chmod 0555 egg/deep egg
"""
FIND = "find . -mindepth 1 ! -path './.git/index'"
LISTING = f"{{ {FIND} -printf '%P %y %m %l\\0'; {FIND} -type f -printf '%P %n %T@\\0'; }} | sort -z"


@pytest.fixture(scope="module")
def odd(engine, source):
    """What set-up left in this image is hard to carry."""
    prepared = prepare(engine, BASE_IMAGE, source, setup=(SETUP,))
    yield prepared.image
    engine.client.images.remove(prepared.image, force=True)


def test_files_in_memory_are_those_of_the_image(make_box, odd, source):
    on_disk, in_memory = (make_box(Limits(workspace=place), odd) for place in ("disk", "memory"))
    found = in_memory.run(["stat", "-f", "-c", "%T", "."]).stdout
    assert found == b"tmpfs\n"
    first, second = (box.run(["sh", "-c", LISTING]).stdout for box in (on_disk, in_memory))
    assert first.split(b"\0") == second.split(b"\0")
    assert in_memory.rehash() == source.tree


def test_a_box_in_memory_goes_on_with_all_its_files(make_box, engine, source):
    box = make_box(Limits(workspace="memory"))
    engine.client.api.kill(box.id)
    box.reopen()
    assert box.rehash() == source.tree


def test_a_repository_that_does_not_fit_is_refused(make_box, engine, source):
    big = prepare(engine, BASE_IMAGE, source, setup=("head -c 50000000 /dev/urandom > big",))
    try:
        with pytest.raises(DiskFullError, match="does not fit into memory"):
            make_box(Limits(workspace="memory", memory=64 << 20), big.image)
    finally:
        engine.client.images.remove(big.image, force=True)


def test_a_file_that_cannot_be_read_is_named(make_box, engine, source):
    shut = prepare(engine, BASE_IMAGE, source, setup=("touch shut; chmod 0 shut",))
    try:
        with pytest.raises(ImageError, match=r"copied into memory.*shut"):
            make_box(Limits(workspace="memory"), shut.image)
    finally:
        engine.client.images.remove(shut.image, force=True)
