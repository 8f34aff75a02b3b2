"""Set-up through the gateway: real package tools, and real registries where one says so."""

import pytest

from sandbox import BASE_IMAGE, prepare
from sandbox.errors import SetupError
from sandbox.gateway.index import Index
from sandbox.gateway.network import Network, open_way
from tests.sandbox.gateway.world import served, wheel


@pytest.fixture
def set_up(engine, source):
    """Prepare an image with network; what set-up printed and what was refused."""
    made = []

    def set_up(command, network, **options):
        heard = []
        with open_way(network, **options) as way:
            try:
                prepared = prepare(
                    engine,
                    BASE_IMAGE,
                    source,
                    setup=(command,),
                    neighbours=way.neighbours,
                    reach=network.identity,
                    on_line=lambda line: heard.append(line.text),
                )
                made.append(prepared.image)
            finally:
                set_up.refused = way.refused()
        return heard

    yield set_up
    for image in made:
        engine.client.images.remove(image, force=True)


@pytest.fixture
def world():
    with served() as server:
        yield server


def test_pip_installs_from_pypi(set_up):
    command = "pip install -q --no-cache-dir six==1.16.0 && python3 -c 'import six; print(six)'"
    assert "six.py" in set_up(command, Network(("pypi",)))[-1]
    assert set_up.refused == ()


def test_apt_installs_from_debian(set_up):
    command = "apt-get update -q && apt-get install -q -y --no-install-recommends hello && hello"
    assert set_up(command, Network(("debian",)))[-1] == "Hello, world!"


def test_what_is_not_listed_fails_and_is_told(set_up):
    with pytest.raises(SetupError, match="No matching distribution"):
        set_up("pip install --no-cache-dir --retries 0 six", Network(("npm",)))
    (refused,) = set_up.refused
    assert (refused.host, refused.remedy) == ("pypi.org:443", '[network] allow = ["pypi.org"]')


def test_the_proxys_variables_do_not_stay_in_the_image(engine, set_up, source):
    assert set_up("env | grep -c _PROXY=", Network(("pypi",))) == ["3"]
    prepared = prepare(
        engine,
        BASE_IMAGE,
        source,
        setup=("env | grep -c _PROXY=",),
        reach=Network(("pypi",)).identity,
    )
    facts = engine.client.api.inspect_image(prepared.image)
    assert [each for each in facts["Config"]["Env"] if "PROXY" in each.upper()] == []


def test_pip_installs_from_a_private_index(set_up, world):
    name, content = wheel("secretlib")
    world.pages = {
        "/simple/secretlib/": ("text/html", 200, f"<a href='../../f/{name}'>x</a>".encode()),
        f"/f/{name}": ("application/octet-stream", 200, content),
    }
    index = Index("corp", f"http://world.example:{world.server_port}/simple/", "u:swordfish-1")
    network = Network((), (index,), ("world.example",))
    url = "http://127.0.0.1:13128/indexes/corp/"
    command = f"pip install --no-cache-dir --index-url {url} secretlib; env; cat /proc/1/environ"
    heard = set_up(command, network, resolve=lambda host: ["127.0.0.1"])
    assert "Successfully installed secretlib-1.0" in heard
    assert not any("swordfish" in line for line in heard)
    assert all("authorization: Basic" in seen for seen in world.seen)
