"""A runtime other than the engine's default: passed on to every container, or refused by name."""

from contextlib import closing

import pytest

from sandbox import Limits, connect, open_box, prepare
from sandbox.errors import EngineError, ImageError

OTHER = "io.containerd.runc.v2"
"""The engine's own second name for runc: nothing has to be registered for it."""


def test_every_container_gets_the_runtime_that_was_named(image):
    with closing(connect(OTHER)) as engine:
        assert engine.client.info()["DefaultRuntime"] != OTHER
        with open_box(engine, image, Limits(), run="test", purpose="work") as box:
            facts = engine.client.api.inspect_container(box.id)
            assert facts["HostConfig"]["Runtime"] == OTHER
            assert box.run(["echo", "fine"]).stdout == b"fine\n"


def test_an_unknown_runtime_is_refused_with_those_there_are():
    with pytest.raises(EngineError) as caught:
        connect("runsc-of-tomorrow")
    assert str(caught.value).startswith(
        "The Docker Engine has no runtime 'runsc-of-tomorrow', only io.containerd.runc.v2, "
    )


def test_preparation_uses_the_runtime_too(source):
    # This shim is not installed: the first container already says so.
    with closing(connect("io.containerd.none.v9")) as engine, pytest.raises(ImageError) as caught:
        prepare(engine, "orchestrator/base:1", source, setup=("echo runtime",))
    assert "io.containerd.none.v9" in str(caught.value)
