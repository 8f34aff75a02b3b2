"""What the base image promises, and that building again does nothing."""

import ssl
import subprocess
from pathlib import Path

import pytest

from containers import BUILD
from sandbox.engine import connect

IMAGES = ("orchestrator/base:1", "orchestrator/toolbox:1")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="module")
def engine():
    engine = connect()
    yield engine
    engine.client.close()


@pytest.fixture
def run(engine):
    def run(*command: str) -> str:
        output = engine.client.containers.run(
            "orchestrator/base:1", list(command), network_mode="none", remove=True
        )
        return output.decode()

    return run


def test_building_again_does_nothing_and_says_nothing(engine, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)  # it may name what the system has anyway
    before = [engine.client.images.get(name).id for name in IMAGES]
    built = subprocess.run(["sh", BUILD], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert built.stdout + built.stderr == b""
    assert [engine.client.images.get(name).id for name in IMAGES] == before


def test_without_an_engine_building_says_what_to_do(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    built = subprocess.run(["sh", BUILD], capture_output=True, text=True)
    engine = BUILD.with_name("engine.sh")
    assert built.returncode == 1
    assert built.stderr == (f"images: no Docker Engine answers: run 'sh {engine}' or start one\n")


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_has_no_labels_that_containers_would_inherit(engine, name):
    assert not engine.client.images.get(name).labels


def test_the_base_has_the_tools_a_small_project_needs(run):
    tools = ["bash", "busybox", "curl", "git", "less", "make", "pip3", "ps", "python", "rg"]
    assert len(run("which", *tools).splitlines()) == len(tools)


def test_python_is_recent_and_makes_virtual_environments(run):
    code = "import sys, ensurepip, venv, setuptools, wheel; print(sys.version_info >= (3, 11))"
    assert run("python3", "-c", code) == "True\n"


def test_programs_with_their_own_authorities_use_the_image_s(run):
    environment = dict(line.split("=", 1) for line in run("env").splitlines())
    for name in (
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "PIP_CERT",
        "REQUESTS_CA_BUNDLE",
    ):
        assert environment[name] == BUNDLE


def test_every_authority_of_the_host_is_known_inside(run):
    inside = certificates(run("cat", BUNDLE))
    host = Path(ssl.get_default_verify_paths().cafile or BUNDLE).read_text()
    assert certificates(host) <= inside


def certificates(bundle: str) -> set[str]:
    end = "-----END CERTIFICATE-----"
    return {part.partition("-----BEGIN")[2].strip() for part in bundle.split(end)[:-1]}
