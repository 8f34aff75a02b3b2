"""Attacks on a box with a way out: past it, through it to what is near, and on the way itself."""

import http.server
import subprocess
import threading

import pytest

from sandbox import Limits, open_box
from sandbox.gateway.network import Network, open_way
from sandbox.gateway.relay import PORT

NAMES = {
    "inward.example": "127.0.0.1",
    "lan.example": "10.0.0.1",
    "meta.example": "169.254.169.254",
}


@pytest.fixture(scope="module")
def listener():
    """A server on all addresses of this machine, so that there is one to miss."""
    seen = []

    class Seen(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), Seen) as server:
        server.seen = seen
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def near():
    """Every address by which this machine and its neighbours are called."""
    own = subprocess.run(["hostname", "-I"], capture_output=True, check=True).stdout.decode()
    known = ["8.8.8.8", "169.254.169.254", "172.17.0.1", "127.0.0.1", "[::1]"]
    return known + [f"[{each}]" if ":" in each else each for each in own.split()]


@pytest.fixture(scope="module")
def way(listener, near):
    """A network whose list names all that must not be reached, and one honest host."""
    port = listener.server_port
    listed = [f"{name}:{port}" for name in (*near, *NAMES, "honest.example") if name != "8.8.8.8"]
    known = {name: [address] for name, address in NAMES.items()}
    network = Network(tuple(listed), private_hosts=("honest.example",))

    def resolve(name):
        return known.get(name, ["127.0.0.1"] if name == "honest.example" else [name])

    with open_way(network, resolve=resolve) as way:
        yield way


@pytest.fixture(scope="module")
def out(engine, image, way):
    with open_box(
        engine, image, Limits(), run="test", purpose="work", neighbours=way.neighbours
    ) as box:
        yield box


def reached(box, hosts, port, *options):
    script = (
        "for host; do "
        f"curl -s -m 5 -o /dev/null -w '%{{http_code}}' {' '.join(options)} http://$host:{port}/"
        " | grep -q 200 && echo $host; done"
    )
    return box.run(["sh", "-c", script, "sh", *hosts], seconds=100).stdout.decode().split()


def test_n01_nothing_is_reached_past_the_proxy(out, near, listener):
    assert reached(out, near, listener.server_port, "--noproxy '*'") == []
    assert listener.seen == []


@pytest.mark.parametrize("option", ["", "-p"])
def test_n01_and_n06_nothing_near_is_reached_through_the_proxy(out, near, listener, option):
    proxied = f"--noproxy '' {option}"
    assert reached(out, [*near, *NAMES], listener.server_port, proxied) == []
    assert listener.seen == []


def test_honest_downloads_work_beside_all_that(out, listener):
    assert reached(out, ["honest.example"], listener.server_port) == ["honest.example"]
    assert listener.seen.pop() == "/"


def test_n06_odd_spellings_of_near_addresses_are_refused(out, listener):
    odd = [
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "localhost",
        "0",
    ]
    assert reached(out, odd, listener.server_port, "--noproxy ''") == []


def test_the_proxy_is_no_way_to_itself(out):
    assert reached(out, ["127.0.0.1", "localhost"], PORT, "--noproxy ''") == []


def test_a_flood_of_connections_leaves_the_way_open(out, listener):
    flood = f"""
import socket
socks = [socket.create_connection(("127.0.0.1", {PORT})) for _ in range(300)]
for sock in socks:
    sock.sendall(b"CONNECT honest.example:1 HTTP/1.1\\r\\nHost: x")
"""
    assert out.run(["python3", "-c", flood]).exit.ok
    test_honest_downloads_work_beside_all_that(out, listener)
