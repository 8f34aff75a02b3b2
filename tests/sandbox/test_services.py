"""Services beside a sandbox, with a real PostgreSQL."""

import contextlib

import pytest

import sandbox
from sandbox import Limits, open_box, prepare
from sandbox.errors import ImageError, SandboxError
from sandbox.services import Services
from tests.beside import run_in
from tests.postgres import READY, companion
from tests.postgres import postgres as postgres

PSQL = "psql -qAt -h 127.0.0.1 -U postgres"


@pytest.fixture(scope="module")
def client(engine, postgres, source):
    """The small repository on an image that has psql."""
    image = prepare(engine, postgres, source).image
    yield image
    engine.client.images.remove(image, force=True)


@pytest.fixture
def open_with(engine, client):
    """Open a box with services beside it."""
    with contextlib.ExitStack() as stack:

        def opened(*companions, purpose="work"):
            beside = [Services(companions)]
            box = open_box(engine, client, Limits(), run="test", purpose=purpose, neighbours=beside)
            return stack.enter_context(box)

        opened.close = stack.close
        yield opened


@pytest.fixture(scope="module")
def beside(engine, client, postgres):
    """A box with a database, for all tests that leave both as they are."""
    services = Services([companion(postgres)])
    with open_box(
        engine, client, Limits(), run="test", purpose="work", neighbours=[services]
    ) as box:
        yield box


def psql(box, statement):
    done = box.run(["sh", "-c", f'{PSQL} -c "$0"', statement])
    assert done.exit.ok, done.stderr
    return done.stdout.decode().split()


def services_of(engine, box):
    """The containers in the network namespace of a box."""
    return [
        engine.client.containers.get(each["Id"])
        for each in engine.client.api.containers(filters={"label": "service"})
        if each["HostConfig"]["NetworkMode"] == f"container:{box.id}"
    ]


def test_a_database_is_reached_by_the_first_command(beside):
    assert psql(beside, "select 40 + 2") == ["42"]


def test_a_service_is_sealed(engine, beside):
    (service,) = services_of(engine, beside)
    host = service.attrs["HostConfig"]
    assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], None, False)
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (512 << 20, 512 << 20, 512)
    assert [(each["Destination"], each["RW"]) for each in service.attrs["Mounts"]] == [
        ("/opt/orchestrator", False)
    ]
    wanted = ["grep", "-E", "^(Uid|CapBnd|NoNewPrivs)", "/proc/1/status"]
    status = run_in(engine, service.id, wanted)
    assert run_in(engine, service.id, ["ls", "/sys/class/net"]).stdout == b"lo\n"
    assert b"CapBnd:\t0000000000000000\nNoNewPrivs:\t1" in status.stdout


def test_each_box_has_its_own_fresh_data(open_with, postgres):
    work, proof = open_with(companion(postgres)), open_with(companion(postgres), purpose="proof")
    psql(work, "create table made (x int)")
    assert psql(work, "select count(*) from pg_tables where tablename = 'made'") == ["1"]
    assert psql(proof, "select count(*) from pg_tables where tablename = 'made'") == ["0"]


def test_nothing_is_left(engine, client, postgres):
    services = Services([companion(postgres)])
    with open_box(
        engine, client, Limits(), run="test", purpose="work", neighbours=[services]
    ) as box:
        (service,) = services_of(engine, box)
    assert engine.client.api.containers(all=True, filters={"id": service.id}) == []


def test_several_services_and_their_settings(open_with, postgres):
    one = companion(postgres, env={"PGDATA": "/srv/data"})
    two = companion(
        postgres,
        name="second",
        command=("postgres", "-c", "port=5433", "-c", "unix_socket_directories=/tmp"),
        ready=f"{READY} -p 5433",
    )
    box = open_with(one, two)
    assert psql(box, "show port") == ["5432"]
    assert box.run(["sh", "-c", f"{PSQL} -p 5433 -c 'show port'"]).stdout == b"5433\n"


def test_an_open_port_is_enough(open_with, postgres):
    box = open_with(companion(postgres, ready="", port=5432))
    connect = "import socket; socket.create_connection(('127.0.0.1', 5432))"
    assert box.run(["python3", "-c", connect]).exit.ok


def test_a_reopened_sandbox_has_new_services(engine, open_with, postgres):
    box = open_with(companion(postgres))
    psql(box, "create table made (x int)")
    box.reopen()
    assert psql(box, "select count(*) from pg_tables where tablename = 'made'") == ["0"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"command": ("sh", "-c", "echo oh; echo; echo ' no'; exit 3")},
            r"The service db ended with exit status 3 before it was ready; mend .*\.\n"
            r"  It said:\n    oh\n     no$",
        ),
        (
            {"command": ("sh", "-c", "echo oh; sleep 99"), "ready": "sleep 9", "seconds": 1.0},
            r"The service db was not ready within 1 s: `sleep 9` did not succeed; .*\.\n"
            r"  It said:\n    oh$",
        ),
        (
            {"ready": "", "port": 9, "seconds": 1.0},
            r"The service db was not ready within 1 s: port 9 is not open;",
        ),
        (
            {"user": "root"},
            r"The service db ended with exit status 1 .*\.\n  It said:\n    .*\"root\" execution",
        ),
        (
            {"command": ("false",)},
            r"The service db ended with exit status 1 .*\.\n  It said nothing\.$",
        ),
    ],
    ids=["ends", "hangs", "closed", "root", "silent"],
)
def test_a_service_that_is_not_ready_says_why(open_with, postgres, options, said):
    with pytest.raises(SandboxError, match=said):
        open_with(companion(postgres, **options))


def test_a_missing_image_is_named_with_its_service(open_with):
    with pytest.raises(
        ImageError, match="The service db cannot be started: The image orchestrator"
    ):
        open_with(companion("orchestrator/none:1"))


def test_the_short_way_in_takes_services(postgres):
    with sandbox.open(neighbours=[Services([companion(postgres)])]) as box:
        connect = "import socket; socket.create_connection(('127.0.0.1', 5432))"
        assert box.run(["python3", "-c", connect]).exit.ok


def test_a_service_that_ends_at_work_is_told(engine, open_with, postgres):
    box = open_with(companion(postgres))
    (database,) = services_of(engine, box)
    database.kill()
    with pytest.raises(SandboxError, match=r"ended with exit status 137 while"):
        open_with.close()
