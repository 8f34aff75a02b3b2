import gc
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import UnixStreamServer
from threading import Thread
from types import SimpleNamespace
from typing import ClassVar

import pytest

from sandbox.engine import connect, is_local
from sandbox.errors import EngineError


class Answering(BaseHTTPRequestHandler):
    """An engine that only knows how old it is."""

    said: ClassVar[Mapping[str, object]]

    def do_GET(self):
        body = json.dumps(self.said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def answering(**version: object) -> Iterator[str]:
    class Engine(Answering):
        said = version

    with HTTPServer(("127.0.0.1", 0), Engine) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def refusal(monkeypatch):
    def connecting_to(host: str) -> str:
        monkeypatch.setenv("DOCKER_HOST", host)
        with pytest.raises(EngineError) as caught:
            connect()
        return str(caught.value)

    yield connecting_to
    with warnings.catch_warnings():
        # docker-py leaves a socket that could not connect to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def engine():
    engine = connect()
    yield engine
    engine.client.close()


def test_the_engine_that_answers_says_what_it_is(engine):
    assert engine.architecture == engine.client.version()["Arch"]
    assert engine.version == engine.client.version()["Version"]


class OnSocket(UnixStreamServer):
    def get_request(self):
        return super().get_request()[0], ("nobody", 0)


def test_a_socket_of_this_machine_is_told_nothing_of_netrc(tmp_path, monkeypatch):
    heard = []

    class Engine(Answering):
        said: ClassVar = {"ApiVersion": "1.41", "Version": "20.10", "Os": "linux", "Arch": "amd64"}

        def do_GET(self):
            heard.append(self.headers["Authorization"])
            super().do_GET()

    place, netrc = str(tmp_path / "socket"), tmp_path / "netrc"
    netrc.write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    with OnSocket(place, Engine) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        connect().close()
        server.shutdown()
    assert heard == [None]


def test_labels_name_this_very_process(engine):
    labels = engine.host_labels()
    assert labels["host_pid"] == str(os.getpid())
    assert set(labels) - {"host_id"} == {
        *("app", "host", "host_boot", "host_pid", "host_pids", "host_start", "host_user")
    }
    assert all(labels[name] for name in labels if name != "host_id")  # not every machine has one


def test_labels_stay_the_same_for_the_life_of_a_process(engine):
    assert engine.host_labels() == engine.host_labels()


@pytest.mark.parametrize("host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1"])
def test_without_an_engine_the_error_says_how_to_get_one(refusal, host):
    assert refusal(host) == (
        "No Docker Engine answers: start it (`sudo systemctl start docker`), install one "
        "(on Debian and Ubuntu `sudo apt-get install docker.io`), or set DOCKER_HOST."
    )


def test_a_host_that_makes_no_sense_is_named(refusal):
    said = refusal("nonsense")
    assert said.startswith("Docker cannot be used: ")
    assert "nonsense" in said


def test_an_answer_without_a_version_is_no_engine_s(refusal):
    with answering(message="hello") as host:
        assert refusal(host).startswith("Docker cannot be used: ")


def test_an_old_engine_is_refused(refusal):
    with answering(ApiVersion="1.40", Version="19.03.15", Os="linux", Arch="amd64") as host:
        assert refusal(host) == "Docker Engine 19.03.15 is too old: install 20.10 or later."


def test_podman_is_refused_by_name(refusal):
    parts = [{"Name": "Podman Engine", "Version": "4.3.1"}]
    version = {"ApiVersion": "1.41", "Version": "4.3.1", "Os": "linux", "Arch": "amd64"}
    with answering(**version, Components=parts) as host:
        assert refusal(host) == (
            "Podman 4.3.1 answers there, whose imitation of the Docker API lacks what prepared"
            " images need: set DOCKER_HOST to a Docker Engine, 20.10 or later."
        )


def test_an_engine_for_windows_containers_is_refused(refusal):
    with answering(ApiVersion="1.43", Version="24.0.7", Os="windows", Arch="amd64") as host:
        assert refusal(host) == (
            "The Docker Engine runs windows containers: switch it to Linux containers."
        )


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http+docker://localhost", True),  # as docker-py names a socket of this machine
        ("http+docker://ssh", False),
        ("http://127.0.0.1:2375", False),
    ],
)
def test_only_a_socket_of_this_machine_is_local(url, local):
    assert is_local(SimpleNamespace(api=SimpleNamespace(base_url=url))) is local
