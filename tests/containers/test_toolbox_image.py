"""The toolbox in an image that has nothing but busybox: no loader, no C library, no /bin/git."""

import io
import tarfile

import pytest

from sandbox import toolbox
from sandbox.engine import connect

GIT = "/opt/orchestrator/bin/git"
PYTHON = "/opt/orchestrator/bin/python"


@pytest.fixture(scope="module")
def bare():
    """A running container as the agent sees it, its only own file being a shell."""
    engine = connect()
    image = bare_image(engine)
    container = engine.client.containers.run(
        image,
        ["/bin/busybox", "sleep", "300"],
        detach=True,
        network_mode="none",
        volumes={toolbox.volume(engine): {"bind": toolbox.PLACE, "mode": "ro"}},
        tmpfs={"/workspace": "uid=10001,mode=0755", "/tmp": "mode=1777"},
    )
    yield container
    container.remove(force=True)
    engine.client.images.remove(image)


def bare_image(engine) -> str:
    source = engine.client.containers.create("orchestrator/base:1", "true")
    stream, _ = source.get_archive("/usr/bin/busybox")
    packed = tarfile.open(fileobj=io.BytesIO(b"".join(stream)))
    source.remove()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = packed.getmember("busybox")
        member.name = "bin/busybox"
        archive.addfile(member, packed.extractfile("busybox"))
    return engine.client.api.import_image_from_data(out.getvalue()).splitlines()[-1]
