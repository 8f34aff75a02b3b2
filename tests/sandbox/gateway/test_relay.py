"""A relay beside a real box, with an echo on the host in the gateway's place."""

import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest
from docker.errors import NotFound

from sandbox import Limits, open_box
from sandbox.errors import GatewayError, SandboxError, SandboxLostError
from sandbox.gateway.relay import PORT, Relay
from tests.sandbox.gateway.echo import Echo
from tests.swept import is_swept

CLIENT = f"""
import hashlib, os, socket, sys, threading
def connected():
    return socket.create_connection(("127.0.0.1", {PORT}))
def all_of(sock):
    return b"".join(iter(lambda: sock.recv(1 << 20), b""))
"""

OWNER = """
import sys
from sandbox import Limits, connect, open_box
from sandbox.gateway.relay import Relay
relay = Relay(lambda sock: sock.close())
with open_box(connect(), sys.argv[1], Limits(), run="owned", purpose="work", neighbours=[relay]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def echo():
    echo = Echo()
    yield echo
    echo.let_go()


@pytest.fixture
def make_beside(engine, image, echo):
    """Open boxes with a relay; all of them are closed at the end of the test."""
    with ExitStack() as stack:

        def make(accept=echo.accept, **environment):
            relay = Relay(accept, environment)
            return stack.enter_context(
                open_box(engine, image, Limits(), run="test", purpose="work", neighbours=[relay])
            )

        yield make


@pytest.fixture(scope="module")
def beside(engine, image, echo):
    """One box with a relay for all tests that leave it alive."""
    relay = Relay(echo.accept, {"HTTP_PROXY": "there"})
    with open_box(engine, image, Limits(), run="test", purpose="work", neighbours=[relay]) as box:
        yield box


def in_a_box(engine, image, relay, work):
    with open_box(engine, image, Limits(), run="test", purpose="work", neighbours=[relay]) as box:
        work(box)


def python(box, program, **options):
    done = box.run(["python3", "-c", CLIENT + program], **options)
    assert done.stderr == b""
    return done.stdout.decode().strip()


def relay_of(engine, box):
    (relay,) = [
        facts["Id"]
        for facts in engine.client.api.containers(filters={"label": "purpose=relay"})
        if facts["HostConfig"]["NetworkMode"] == f"container:{box.id}"
    ]
    return relay


def test_a_program_in_the_box_reaches_the_host(beside):
    program = 's = connected(); s.sendall(b"hello"); print(s.recv(5))'
    assert python(beside, program) == "b'hello'"


def test_a_box_that_was_opened_again_has_a_new_relay(engine, make_beside):
    box = make_beside()
    old = relay_of(engine, box)
    engine.client.api.kill(box.id)
    box.reopen()
    assert python(box, 's = connected(); s.sendall(b"hello"); print(s.recv(5))') == "b'hello'"
    assert relay_of(engine, box) != old
    with pytest.raises(NotFound):
        engine.client.api.inspect_container(old)


def test_commands_see_the_variables(beside):
    assert beside.run(["printenv", "HTTP_PROXY"]).stdout == b"there\n"


def test_a_hundred_megabytes_come_back_as_they_went(beside):
    program = """
data = os.urandom(1 << 20) * 100
s = connected()
def send():
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
print(all_of(s) == data)
"""
    assert python(beside, program) == "True"


def test_an_answer_comes_after_the_clients_end(beside):
    program = 's = connected(); s.sendall(b"all"); s.shutdown(socket.SHUT_WR); print(all_of(s))'
    assert python(beside, program) == "b'all'"


def test_two_hundred_connections_at_once(beside):
    program = """
socks = [connected() for _ in range(200)]
for number, sock in enumerate(socks):
    sock.sendall(b"%d" % number)
    sock.shutdown(socket.SHUT_WR)
print([all_of(sock) for sock in socks] == [b"%d" % number for number in range(200)])
"""
    assert python(beside, program) == "True"


def test_more_connections_than_there_is_room_for_take_turns(beside):
    program = """
socks = [connected() for _ in range(400)]
for sock in socks:
    sock.sendall(b"x")
    sock.shutdown(socket.SHUT_WR)
for sock in socks:
    assert all_of(sock) == b"x"
    sock.close()
print("done")
"""
    assert python(beside, program) == "done"


def test_a_stuck_connection_stops_no_other(beside, echo):
    program = """
stuck = connected()
stuck.settimeout(1)
try:
    stuck.sendall(bytes(64 << 20))
except TimeoutError:
    print("stuck")
print(sys.stdin.read(0), end="")
"""
    echo.keeping = True
    assert python(beside, program) == "stuck"
    echo.keeping = False
    test_a_program_in_the_box_reaches_the_host(beside)
    echo.let_go()


def test_a_client_that_reads_nothing_stops_no_other(beside):
    program = """
lazy = connected()
lazy.settimeout(1)
try:
    lazy.sendall(bytes(64 << 20))
except TimeoutError:
    s = connected()
    s.sendall(b"others")
    print(s.recv(6))
"""
    assert python(beside, program) == "b'others'"


def test_a_connection_the_host_breaks_is_reset(make_beside):
    def close(sock):
        threading.Thread(target=lambda: (sock.recv(1), sock.close())).start()

    program = """
s = connected()
try:
    s.sendall(b"xyz")
    print(all_of(s))
except ConnectionResetError:
    print("reset")
"""
    assert python(make_beside(close), program) == "reset"


def test_a_client_that_breaks_is_noticed(beside, echo):
    echo.keeping = True
    program = """
import struct
s = connected()
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.sendall(b"x")
s.close()
"""
    before = len(echo.kept)
    python(beside, program)
    until = time.monotonic() + 60
    while len(echo.kept) == before:
        assert time.monotonic() < until
        time.sleep(0.01)
    echo.keeping = False
    sock = echo.kept[-1]
    sock.settimeout(10)
    assert b"".join(iter(lambda: sock.recv(1), b"")) in (b"x", b"")


def test_the_engine_confirms_the_seal(engine, beside):
    facts = engine.client.api.inspect_container(relay_of(engine, beside))
    host = facts["HostConfig"]
    assert facts["Config"]["User"] == "10002:10002"
    assert (facts["Mounts"], host["Binds"], host["ReadonlyRootfs"]) == ([], None, True)
    assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], None, False)
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (128 << 20, 128 << 20, 16)
    assert host["LogConfig"] == {"Type": "none", "Config": {}}
    assert facts["Config"]["Labels"]["run"] == "test"


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "127.0.0.2"])
def test_the_agent_cannot_take_the_port(beside, address):
    program = f"""
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
try:
    s.bind(({address!r}, {PORT}))
    s.listen()
except OSError as error:
    print(error.strerror)
"""
    said = python(beside, program)
    assert said == ("" if address == "127.0.0.2" else "Address already in use")
    test_a_program_in_the_box_reaches_the_host(beside)


def test_the_agent_neither_sees_nor_kills_the_relay(beside):
    assert beside.run(["pgrep", "-u", "10002"]).stdout == b""
    beside.run(["sh", "-c", "kill -9 -1"])
    test_a_program_in_the_box_reaches_the_host(beside)


def test_the_boxs_sweep_misses_the_relay(beside):
    beside.sweep()
    test_a_program_in_the_box_reaches_the_host(beside)


def test_there_is_still_no_network(beside):
    assert beside.run(["ls", "/sys/class/net"]).stdout == b"lo\n"


def test_n08_a_relay_that_dies_ends_the_box_by_name(engine, image, echo):
    def work(box):
        engine.client.api.kill(relay_of(engine, box))
        box.run(["sleep", "60"])

    with pytest.raises(SandboxLostError, match="only way out broke"):
        in_a_box(engine, image, Relay(echo.accept), work)


def test_n08_a_gateway_that_dies_ends_the_box_by_name(engine, image):
    def accept(sock):
        sock.close()
        raise RuntimeError("it fell over")

    def work(box):
        box.run(["bash", "-c", f"echo > /dev/tcp/127.0.0.1/{PORT}; sleep 60"])

    with pytest.raises(SandboxLostError, match="it fell over"):
        in_a_box(engine, image, Relay(accept), work)


def test_n08_a_gateway_that_is_lost_ends_the_box_though_nothing_connects(engine, image, echo):
    lost = []
    relay = Relay(echo.accept, {}, lambda: lost[0] if lost else None)

    def work(box):
        lost.append("It fell over: start again.")
        box.run(["sleep", "60"])

    with pytest.raises(SandboxLostError, match="It fell over"):
        in_a_box(engine, image, relay, work)
    with pytest.raises(GatewayError, match="It fell over"):
        in_a_box(engine, image, relay, work)


def test_a_box_that_is_opened_again_gets_a_new_relay(engine, make_beside):
    box = make_beside()
    first = relay_of(engine, box)
    engine.client.api.kill(box.id)
    box.reopen()
    test_a_program_in_the_box_reaches_the_host(box)
    assert relay_of(engine, box) != first
    assert engine.client.api.containers(all=True, filters={"id": first}) == []


def test_a_box_whose_relay_died_can_be_opened_again(engine, make_beside):
    box = make_beside()
    engine.client.api.kill(relay_of(engine, box))
    with pytest.raises(SandboxLostError):
        box.run(["sleep", "60"])
    box.reopen()
    test_a_program_in_the_box_reaches_the_host(box)


def test_a_box_that_fails_by_itself_keeps_its_own_words(engine, image, echo):
    def work(box):
        raise SandboxError("mine")

    with pytest.raises(SandboxError, match="mine"):
        in_a_box(engine, image, Relay(echo.accept), work)


def test_nothing_is_left_of_a_closed_box(engine, image, echo):
    neighbours = [Relay(echo.accept)]
    with open_box(
        engine, image, Limits(), run="test", purpose="work", neighbours=neighbours
    ) as box:
        relay = relay_of(engine, box)
    assert engine.client.api.containers(all=True, filters={"id": relay}) == []


def test_c10_of_a_killed_owner_box_and_relay_are_swept(engine, image):
    command = [sys.executable, "-c", OWNER, image]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout.readline() == b"open\n"
        mine = {"all": True, "filters": {"label": f"host_pid={owner.pid}"}}
        assert len(engine.client.api.containers(**mine)) == 2
        owner.kill()
    assert is_swept(engine, lambda: engine.client.api.containers(**mine))
