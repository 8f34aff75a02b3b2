"""Attacks on a box from inside, and what a crash leaves; the ids are those of the threat model."""

import http.server
import io
import signal
import socket
import subprocess
import threading

import pytest

from sandbox import Limits
from sandbox.errors import ImageError
from tests.swept import is_swept


def shell(box, script, **options):
    return box.run(["sh", "-c", script], **options)


def build(engine, tag, recipe):
    """An image from a recipe without any file beside it."""
    image, _ = engine.client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=tag, rm=True)
    return image.id


@pytest.fixture
def odd_image(engine, image):
    """The small image with everything set that could get in the way of a start."""
    recipe = f"""
    FROM {image}
    USER 65534
    ENTRYPOINT ["/no/such/entrypoint"]
    CMD ["nor", "this"]
    WORKDIR /nowhere
    STOPSIGNAL SIGUSR1
    HEALTHCHECK --interval=1s CMD touch /tmp/healthy
    ENV HOME=/root GOPATH=/go
    LABEL app=other run=other
    """
    yield build(engine, "orchestrator-test/odd", recipe)
    engine.client.images.remove("orchestrator-test/odd", noprune=True)


def test_c01_the_engine_confirms_the_seal(engine, box):
    facts = engine.client.api.inspect_container(box.id)
    host = facts["HostConfig"]
    assert host["Binds"] is None
    assert [(m["Type"], m["Destination"], m["RW"]) for m in facts["Mounts"]] == [
        ("volume", "/opt/orchestrator", False)
    ]
    assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], [], False)
    assert (host["NetworkMode"], host["IpcMode"], host["PidMode"]) == ("none", "private", "")
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (4 << 30, 4 << 30, 1024)
    assert host["LogConfig"] == {"Type": "none", "Config": {}}


def test_c01_a_process_has_no_power(box):
    status = dict(
        line.split(":\t", 1)
        for line in shell(box, "cat /proc/self/status").stdout.decode().splitlines()
    )
    assert status["Uid"].split() == ["10001"] * 4
    assert {status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


@pytest.mark.parametrize(
    "script",
    [
        "mount -t tmpfs none /tmp",
        "unshare --mount true",
        "unshare --user true",
        "mknod /tmp/disk b 8 0",
        "chown 0 /workspace/README.md",
        "kill -9 1",
        "echo x > /opt/orchestrator/bin/git",
        "touch /etc/x",
        "cat /proc/1/environ",
        "echo c > /proc/sysrq-trigger",
        "test -e /var/run/docker.sock",
    ],
)
def test_c01_what_needs_power_is_refused(box, script):
    assert shell(box, f"command -v {script.split()[0]}").exit.ok
    assert not shell(box, script).exit.ok
    assert box.lost() is None


def test_c01_the_agent_cannot_end_pid_1(box):
    shell(box, "kill -9 -1; kill -9 1")
    assert box.run(["echo", "alive"]).stdout == b"alive\n"


@pytest.mark.parametrize("start", ["bomb", "bomb & exit 0"])
def test_c02_after_a_fork_bomb_and_a_sweep_work_goes_on(make_box, start):
    box = make_box(Limits(pids=200))
    shell(box, f"bomb() {{ bomb | bomb & bomb; }}; {start}", seconds=2)
    box.sweep()
    assert box.run(["echo", "fine"]).stdout == b"fine\n"
    assert shell(box, "ls -d /proc/[0-9]* | wc -l").stdout.strip() <= b"9"


def test_c03_a_memory_hog_is_killed_and_the_box_lives(make_box):
    box = make_box(Limits(memory=128 << 20))
    done = box.run(["python3", "-c", "x = bytearray(1 << 30)"])
    assert (done.exit.status, done.exit.out_of_memory) == (137, True)
    assert box.run(["echo", "fine"]).stdout == b"fine\n"


def test_c05_nothing_is_logged_on_the_host(engine, box):
    shell(box, "echo seen; echo flood > /proc/1/fd/1")
    assert engine.client.api.inspect_container(box.id)["LogPath"] == ""


def test_c07_no_daemon_outlives_the_sweep(box):
    shell(
        box,
        "nohup sleep 81 >/dev/null 2>&1 & setsid sleep 81 >/dev/null 2>&1 &"
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 81' >/dev/null 2>&1 &)",
    )
    started = shell(box, "until [ $(pgrep -cx sleep) = 3 ]; do :; done", seconds=10)
    assert started.exit.ok
    box.sweep()
    assert box.run(["pgrep", "-x", "sleep"]).stdout == b""


@pytest.mark.parametrize("evidence", [True, False])
def test_c09_a_command_that_ignores_signals_ends_in_time(box, evidence):
    script = "trap '' TERM INT HUP QUIT ALRM; while :; do sleep 1; done"
    end = shell(box, script, seconds=1, evidence=evidence).exit
    assert end.timed_out
    assert end.seconds <= 6


def test_c10_what_a_killed_orchestrator_left_is_removed(engine, owner, box):
    left = owner.stdout.readline().decode().strip()
    owner.kill()
    owner.wait()
    there = {"all": True, "filters": {"id": left}}
    assert is_swept(engine, lambda: engine.client.api.containers(**there))
    assert box.lost() is None


def test_c10_ctrl_c_removes_the_box(engine, owner):
    left = owner.stdout.readline().decode().strip()
    owner.send_signal(signal.SIGINT)
    owner.wait()
    assert engine.client.api.containers(all=True, filters={"id": left}) == []


def test_c13_a_missing_image_is_named(make_box):
    with pytest.raises(ImageError, match="The image no/such:image is missing"):
        make_box(image="no/such:image")


def test_c13_an_odd_image_starts_like_any_other(engine, odd_image, make_box):
    box = make_box(image=odd_image)
    said = shell(box, "id -u; pwd; echo $HOME $GOPATH").stdout
    assert said == b"10001\n/workspace\n/home/agent /go\n"
    facts = engine.client.api.inspect_container(box.id)
    assert "Health" not in facts["State"]
    assert facts["Config"]["Labels"]["app"] == engine.host_labels()["app"]


@pytest.fixture
def port():
    """A server on all addresses of this machine, so that there is one to miss."""
    handler = http.server.SimpleHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def reached(box, addresses, port):
    """Those addresses that a program in the box can connect to."""
    connect = f'timeout 2 bash -c "echo > /dev/tcp/$host/{port}" && echo $host'
    done = box.run(["sh", "-c", f"for host; do {connect}; done", "sh", *addresses], seconds=60)
    return done.stdout.decode().split()


def test_n01_no_network_is_reached(box, port):
    own = subprocess.run(["hostname", "-I"], capture_output=True, check=True).stdout.decode()
    known = ["8.8.8.8", "169.254.169.254", "172.17.0.1", "host.docker.internal", "sandbox"]
    with socket.create_connection(("127.0.0.1", port)):
        assert reached(box, [*known, "127.0.0.1", *own.split()], port) == []
    assert box.run(["ls", "/sys/class/net"]).stdout == b"lo\n"


def test_n01_the_boxs_own_loopback_works(box):
    shell(box, "python3 -m http.server 8000 >/dev/null 2>&1 &")
    up = "until bash -c 'echo > /dev/tcp/127.0.0.1/8000' 2>/dev/null; do sleep 0.1; done"
    assert shell(box, up, seconds=20).exit.ok
    assert reached(box, ["127.0.0.1", "sandbox"], 8000) == ["127.0.0.1", "sandbox"]
    box.sweep()
