import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from docker.types import Mount

from sandbox import toolbox
from sandbox.engine import Engine, connect
from sandbox.errors import ImageError
from sandbox.kit import Kit
from tests.played import Played, served


@pytest.fixture
def engine():
    engine = connect()
    yield engine
    engine.client.close()


@pytest.fixture
def programs(engine):
    """Programs no other test has, so that their volume is filled here and removed again."""
    mine = {"hello.py": b"print('hello from inside')\n# %s" % secrets.token_hex(8).encode()}
    yield mine
    for container in ours(engine, mine):
        container.remove(v=True)
    for volume in volumes(engine, mine):
        volume.remove()


def labelled(engine: Engine, programs: dict[str, bytes]) -> dict[str, str]:
    image = engine.client.images.get(toolbox.IMAGE).id
    return {"label": f"{toolbox.LABEL}=orchestrator-toolbox-{toolbox._digest(image, programs)}"}


def ours(engine, programs):
    return engine.client.containers.list(all=True, filters=labelled(engine, programs))


def volumes(engine, programs):
    return engine.client.volumes.list(filters=labelled(engine, programs))


def run(engine: Engine, volume: str, *command: str, **options) -> str:
    """Runs as the agent's user in an image that has the loader and nothing else of use."""
    output = engine.client.containers.run(
        toolbox.IMAGE,
        list(command),
        user="10001:10001",
        network_mode="none",
        remove=True,
        mounts=[Mount(toolbox.PLACE, volume, read_only=True)],
        **options,
    )
    return output.decode()


def test_our_programs_run_from_the_volume(engine, programs):
    volume = toolbox.filled(engine, programs)
    said = run(
        engine,
        volume,
        "/opt/orchestrator/bin/python",
        "-I",
        "-S",
        "/opt/orchestrator/inside/hello.py",
    )
    assert said == "hello from inside\n"


def test_our_programs_are_compiled_for_the_python_that_runs_them(engine, programs):
    volume = toolbox.filled(engine, programs)
    look = "import os, inside.hello as h; print(os.path.exists(h.__cached__))"
    said = run(
        engine,
        volume,
        *("/opt/orchestrator/bin/python", "-E", "-s", "-S", "-c", look),
        working_dir=toolbox.PLACE,
    )
    assert said == "hello from inside\nTrue\n"


def test_a_toolbox_that_cannot_be_compiled_is_an_error_and_leaves_nothing(engine, programs):
    programs["hello.py"] += b"\n("
    with pytest.raises(ImageError, match="its Python ended with status 1"):
        toolbox.filled(engine, programs)
    assert (ours(engine, programs), volumes(engine, programs)) == ([], [])


def test_the_same_content_is_the_same_volume(engine, programs):
    assert toolbox.filled(engine, programs) == toolbox.filled(engine, programs)


def test_other_content_is_another_volume(engine, programs):
    assert toolbox._digest("image", programs) != toolbox._digest("image", {"hello.py": b"x"})
    assert toolbox._digest("image", programs) != toolbox._digest("other", programs)


def test_many_who_fill_at_once_agree_and_leave_one_volume(engine, programs):
    with ThreadPoolExecutor(5) as pool:
        names = set(pool.map(lambda _: toolbox.filled(engine, programs), range(5)))
    assert len(names) == 1
    assert {volume.name for volume in volumes(engine, programs)} == names


class Contended(Played):
    """Another process is first to fill it; what that one has is gone when we look."""

    renamed: list[int]
    first = 1
    """So many times."""

    def do_GET(self):
        self._answer(404 if "/containers/orchestrator-toolbox-" in self.path else 200)

    do_PUT = do_DELETE = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "/rename" in self.path:
            self.renamed.append(409 if len(self.renamed) < self.first else 200)
        self._answer(self.renamed[-1] if "/rename" in self.path else 200)

    def _answer(self, status: int) -> None:
        self.say(status, {"Id": "c", "Name": "v", "message": "not now"})


def test_a_toolbox_that_was_filled_first_and_removed_at_once_is_filled_again():
    Contended.renamed = []
    with served(Contended) as engine:
        assert toolbox.filled(engine, {}).startswith("orchestrator-toolbox-")
    assert Contended.renamed == [409, 200]


def test_a_name_that_the_engine_keeps_from_us_is_told():
    class Keeping(Contended):
        first = 1_000

    Keeping.renamed = []
    with served(Keeping) as engine, pytest.raises(ImageError, match="Restart the engine"):
        toolbox.filled(engine, {})
    assert set(Keeping.renamed) == {409}


def test_a_filling_that_was_interrupted_is_never_used(engine, programs):
    [wanted] = [filter.partition("=")[2] for filter in labelled(engine, programs).values()]
    half = engine.client.volumes.create(f"{wanted}-half", labels={toolbox.LABEL: wanted})
    assert toolbox.filled(engine, programs) != half.name


def test_everything_in_it_belongs_to_root(engine, programs):
    volume = toolbox.filled(engine, programs)
    busybox = "/opt/orchestrator/bin/busybox"
    assert run(engine, volume, busybox, "find", toolbox.PLACE, "-not", "-user", "0") == ""
    assert (
        run(engine, volume, busybox, "find", toolbox.PLACE, "-perm", "-002", "-not", "-type", "l")
        == ""
    )


def test_the_toolbox_of_this_product_is_ready(engine):
    assert toolbox.volume(engine).startswith("orchestrator-toolbox-")


def test_an_unused_toolbox_of_another_version_can_be_removed(engine, programs):
    toolbox.filled(engine, programs)
    (name,) = (container.name for container in ours(engine, programs))
    assert name not in toolbox.old(engine, before=0.0)
    assert name in toolbox.old(engine, before=time.time() + 60)
    toolbox.remove(engine, name)
    assert (ours(engine, programs), volumes(engine, programs)) == ([], [])


def test_a_toolbox_in_use_is_not_old(engine, programs):
    volume = toolbox.filled(engine, programs)
    (name,) = (container.name for container in ours(engine, programs))
    assert name in toolbox.spare(engine)
    user = engine.client.containers.create(toolbox.IMAGE, mounts=[Mount(toolbox.PLACE, volume)])
    try:
        assert name not in toolbox.old(engine, before=time.time() + 60)
        assert name not in toolbox.spare(engine)
    finally:
        user.remove()


def test_a_toolbox_that_somebody_began_to_use_stays_whole(engine, programs):
    volume = toolbox.filled(engine, programs)
    name = toolbox._name(toolbox.image_id(engine), programs)
    user = engine.client.containers.create(toolbox.IMAGE, mounts=[Mount(toolbox.PLACE, volume)])
    try:
        assert not toolbox.remove(engine, name)
        assert engine.client.volumes.get(volume)
    finally:
        user.remove()
    assert not toolbox.remove(engine, name)
    engine.client.volumes.get(volume).remove()


def test_a_kit_of_this_version_is_never_old(engine):
    kit = replace(toolbox.TOOLBOX, recipe="another")
    volume = toolbox.filled(engine, {}, kit)
    name = toolbox._name(toolbox.image_id(engine, kit), {})
    try:
        assert name in toolbox.old(engine, before=time.time() + 60)
        assert name not in toolbox.old(engine, time.time() + 60, [kit, Kit("no/such", "/opt/x")])
    finally:
        assert toolbox.remove(engine, name)
    assert volume not in {each.name for each in engine.client.volumes.list()}


def test_the_toolbox_of_this_version_is_never_old(engine):
    toolbox.volume(engine)
    current = (
        f"orchestrator-toolbox-{toolbox._digest(toolbox.image_id(engine), toolbox._programs())}"
    )
    assert current not in toolbox.old(engine, before=time.time() + 60)


def test_a_toolbox_that_is_being_filled_is_not_spare(engine, programs):
    volume = toolbox.filled(engine, programs)
    (container,) = ours(engine, programs)
    assert container.name in toolbox.spare(engine)
    container.rename(volume)
    assert volume not in toolbox.spare(engine)
