"""Attacks from a sandbox on the service beside it, and the other way round."""

import signal
import subprocess
import sys

import pytest

from sandbox import Limits, open_box
from sandbox.services import Services
from tests.beside import run_in
from tests.postgres import companion
from tests.postgres import postgres as postgres
from tests.swept import is_swept

OWNER = """
import sys
from sandbox import Limits, connect, open_box
from sandbox.services import Services
from tests.postgres import companion
beside = [Services([companion(sys.argv[2])])]
with open_box(
    connect(), sys.argv[1], Limits(), run="owned", purpose="work", neighbours=beside
) as box:
    print(box.id, flush=True)
    sys.stdin.read()
"""
CONNECT = "import socket; socket.create_connection(('127.0.0.1', 5432))"


@pytest.fixture(scope="module")
def box(engine, image, postgres):
    services = Services([companion(postgres, env={"PASSWORD": "hunter2"})])
    with open_box(
        engine, image, Limits(), run="test", purpose="work", neighbours=[services]
    ) as box:
        yield box


@pytest.fixture(scope="module")
def service(engine, box):
    (found,) = (
        each
        for each in engine.client.containers.list(
            filters={"label": "service=db"}, ignore_removed=True
        )
        if each.attrs["HostConfig"]["NetworkMode"] == f"container:{box.id}"
    )
    return found


def test_its_processes_files_and_variables_are_not_seen(box):
    seen = box.run(["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; ls /srv; env"])
    assert b"postgres" not in seen.stdout
    assert b"hunter2" not in seen.stdout


def test_it_cannot_be_killed(box, service):
    box.run(["sh", "-c", "kill -9 -1; pkill postgres"])
    box.sweep()
    service.reload()
    assert service.status == "running"
    assert box.run(["python3", "-c", CONNECT]).exit.ok


def test_it_sees_nothing_of_the_sandbox(engine, service, box):
    box.run(["sh", "-c", "sleep 4243 >/dev/null 2>&1 &"])
    assert not run_in(engine, service.id, ["ls", "/workspace"], user="0").exit.ok
    found = run_in(engine, service.id, ["pgrep", "sleep"], user="0")
    assert (found.exit.status, found.stdout) == (1, b"")
    assert box.run(["cat", "README.md"]).stdout == b"# Tiny\n"
    assert box.run(["pgrep", "-f", "sleep 4243"]).exit.ok


def test_its_port_cannot_be_taken_from_it(box):
    bind = "import socket; socket.create_server(('127.0.0.1', 5432))"
    assert b"Address already in use" in box.run(["python3", "-c", bind]).stderr


def test_it_has_no_way_out(engine, service):
    reach = "import socket; socket.create_connection(('172.17.0.1', 22), 2)"
    done = run_in(engine, service.id, ["python3", "-c", reach])
    assert b"Network is unreachable" in done.stderr


def test_a_killed_owner_leaves_no_service_past_the_sweep(engine, image, postgres):
    command = [sys.executable, "-c", OWNER, image, postgres]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        left = owner.stdout.readline().decode().strip()
        owner.send_signal(signal.SIGKILL)

    def there():
        found = engine.client.api.containers(all=True)
        modes = {each["Id"]: each["HostConfig"]["NetworkMode"] for each in found}
        return [name for name, mode in modes.items() if left in (name, mode.partition(":")[2])]

    assert is_swept(engine, there)
