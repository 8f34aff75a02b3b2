import io
import secrets
import tarfile
import time

import pytest

from sandbox.engine import Engine, connect
from sandbox.images import PREPARED
from sandbox.preparation import LABEL
from sandbox.stock import old_images, present, remove


@pytest.fixture
def engine():
    engine = connect()
    yield engine
    engine.close()


@pytest.fixture
def image(engine: Engine):
    """An image of nothing, called as if it were prepared."""
    tag = f"test-{secrets.token_hex(8)}"
    with io.BytesIO() as empty:
        tarfile.open(fileobj=empty, mode="w").close()
        engine.client.api.import_image_from_data(empty.getvalue(), repository=PREPARED, tag=tag)
    yield f"{PREPARED}:{tag}"
    remove(engine, f"{PREPARED}:{tag}")


def test_an_old_image_is_found_and_removed(engine, image):
    assert present(engine, image)
    assert image in old_images(engine, before=time.time() + 60)
    assert remove(engine, image)
    assert not present(engine, image)
    assert not remove(engine, image)


def test_a_young_image_is_not_old(engine, image):
    assert image not in old_images(engine, before=time.time() - 3600)


def test_what_else_an_image_is_called_stays(engine, image):
    other = image.replace(PREPARED, "somebody/else")
    engine.client.images.get(image).tag(other)
    assert other not in old_images(engine, before=time.time() + 60)
    assert remove(engine, image)
    assert remove(engine, other)


def test_an_image_in_use_stays(engine, image):
    container = engine.client.containers.create(image, "true")
    try:
        assert not remove(engine, image)
    finally:
        container.remove()


def test_what_a_killed_preparation_left_is_found_and_removed(engine, image):
    # As a preparation does: labels first, a name only when all is done.
    box = engine.client.containers.create(image, ["none"])
    made = engine.client.api.commit(box.id, conf={"Labels": {LABEL: "{}"}})["Id"]
    box.remove()
    assert made in old_images(engine, before=time.time() + 60)
    assert remove(engine, made)
