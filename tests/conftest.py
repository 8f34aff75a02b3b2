"""What several rooms share: the engine, a small repository in a prepared image, a box on it."""

import pytest

from sandbox.box import open_box
from sandbox.engine import connect
from sandbox.images import BASE_IMAGE, prepare
from sandbox.limits import Limits
from tests.recorder import SETUP, TRACKED, Recorder, shallow_source


@pytest.fixture(scope="session")
def engine():
    engine = connect()
    yield engine
    engine.client.close()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """The base of `record`: with a tracked file that is ignored, and a submodule."""
    return shallow_source(tmp_path_factory.mktemp("recorded"), TRACKED, submodule="vendor/sub")


@pytest.fixture(scope="session")
def prepared(engine, recorded):
    """`recorded` after a set-up that left files and altered one."""
    prepared = prepare(engine, BASE_IMAGE, recorded, setup=(SETUP,))
    yield prepared
    engine.client.images.remove(prepared.image, force=True)


@pytest.fixture
def record(engine, prepared, recorded, tmp_path):
    """Take snapshots of a box of its own, and look at what came out."""
    store = tmp_path / "store"
    store.mkdir()
    with open_box(engine, prepared.image, Limits(), run="test", purpose="work") as box:
        yield Recorder(box, recorded, store, TRACKED)
