"""What goes through to the world and what does not, by CONNECT and in plain HTTP."""

import socket

import pytest

from sandbox.gateway import egress as egress_module
from sandbox.gateway.egress import Egress
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.hosts import Place
from sandbox.gateway.refusals import Refusals, Refused
from tests.sandbox.gateway.world import dialer, served

LEADS = {
    "loop.example": ["127.0.0.1"],
    "lan.example": ["10.1.2.3"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "meta.example": ["169.254.169.254"],
    "two.example": ["203.0.113.1", "192.168.0.1"],
}


@pytest.fixture
def world():
    with served() as server:
        yield server


@pytest.fixture
def egress(world):
    names = {name.replace(".", "_"): found for name, found in LEADS.items()}
    listed = [f"{name}:{world.server_port}" for name in ("world.example", "gone.example", *LEADS)]
    return Egress(listed, dialer(**names))


@pytest.fixture
def client(open_client, egress):
    return open_client(egress)


def connect(port, host="world.example", more=""):
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{more}\r\n".encode()


def get(url, more="", host="other.example"):
    return f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode()


def status(answer):
    return int(answer.split(b" ", 2)[1])


def test_connect_passes_bytes_unread(client, world, egress):
    client.sock.sendall(connect(world.server_port))
    assert client.sock.recv(1 << 16) == b"HTTP/1.1 200 OK\r\n\r\n"
    answer = client.ask(b"GET /x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nServer: BaseHTTP")
    assert world.seen == ["GET /x\nHost: y\nConnection: close\n\n\n"]
    assert egress.received == len(answer)


def test_bytes_sent_along_with_the_connect_are_not_lost(client, world):
    early = b"GET /early HTTP/1.1\r\nConnection: close\r\n\r\n"
    answer = client.ask(connect(world.server_port) + early)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert world.seen == ["GET /early\nConnection: close\n\n\n"]


def test_plain_http_is_forwarded_with_the_targets_host(client, world):
    hop = "Proxy-Authorization: Basic x\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nAccept: a/b\r\n"
    port = world.server_port
    ask = get(f"http://World.Example:{port}/p?q=1", hop).replace(b"n: close", b"n: x-hop, close")
    assert status(client.ask(ask)) == 200
    assert world.seen == [
        f"GET /p?q=1\nhost: World.Example:{port}\naccept: a/b\nconnection: close\n\n\n"
    ]


def test_a_body_is_forwarded_by_its_length(client, world):
    url = f"http://world.example:{world.server_port}/upload"
    ask = get(url, "Content-Length: 4\r\n").replace(b"GET", b"POST") + b"body"
    assert client.ask(ask).endswith(b"content-length: 4\n\n\nbody")


def test_one_connection_serves_several_hosts_in_turn(client, world):
    url = f"http://world.example:{world.server_port}/"
    keep = get(url + "1").replace(b"Connection: close\r\n", b"")
    answer = client.ask(keep + get(url + "2"))
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert [seen.split("\n")[0] for seen in world.seen] == ["GET /1", "GET /2"]


@pytest.mark.parametrize("host", ["evil.example", "world.example.evil.example", "127.0.0.1"])
def test_hosts_off_the_list_are_refused_and_listed_once(client, connect_again, egress, world, host):
    port = world.server_port
    for asking in (client, connect_again(), connect_again()):
        assert status(asking.ask(connect(port, host))) == 403
    remedy = f'[network] allow = ["{host}:{port}"]'
    assert egress.refused() == (Refused(f"{host}:{port}", 3, remedy),)
    assert world.seen == []


@pytest.fixture
def connect_again(open_client, egress):
    return lambda: open_client(egress)


def test_another_port_of_a_listed_host_is_refused(client, egress):
    assert status(client.ask(connect(22))) == 403
    assert [each.host for each in egress.refused()] == ["world.example:22"]


@pytest.mark.parametrize("host", LEADS)
@pytest.mark.parametrize("form", ["connect", "plain"])
def test_n06_a_listed_name_that_leads_inwards_is_refused(client, world, egress, host, form):
    port = world.server_port
    ask = connect(port, host) if form == "connect" else get(f"http://{host}:{port}/")
    answer = client.ask(ask)
    assert (status(answer), b"is not public" in answer) == (403, True)
    remedy = "nothing" if host == "meta.example" else f"--allow-private {host}"
    assert egress.refused() == (Refused(f"{host}:{port}", 1, remedy),)
    assert world.seen == []


def test_n06_a_name_is_looked_up_once_and_connected_as_checked(open_client, world):
    asked = []

    def rebinding():
        asked.append("once")
        return ["192.0.2.1"] if len(asked) > 1 else ["127.0.0.1"]

    port = world.server_port
    egress = Egress([f"rebind.example:{port}"], dialer(rebind_example=rebinding))
    assert status(open_client(egress).ask(connect(port, "rebind.example"))) == 403
    assert asked == ["once"]


def test_a_name_without_an_address_is_told(client, world):
    answer = client.ask(connect(world.server_port, "gone.example"))
    assert (status(answer), b"There is no host gone.example" in answer) == (502, True)


def test_a_port_that_nobody_serves_is_told(open_client):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        egress = Egress([f"world.example:{port}"], dialer())
        answer = open_client(egress).ask(connect(port))
    assert (status(answer), b"cannot be reached" in answer) == (502, True)


SMUGGLED = [
    b"CONNECT world.example HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT http://world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT user@world.example:%d HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT world.example:%d@evil.example:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT world.example:0%d HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT world.example:%d HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"CONNECT world.example:%d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET https://world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET ftp://world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://evil.example@world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://world.example:%d\\@evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http:///world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://world.example:%d/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET http://world.example:%d/ HTTP/1.1\r\nHost: a\r\n"
    b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
    b"GET http://world.example:%d/\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://world.example:%d/ HTTP/1.1\r\nHost: a\r\nX: y\rHost: evil\r\n\r\n",
    b"GET http://world.example:%d/ HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://[::1/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"TRACE http://world.example:%d/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /relative HTTP/1.1\r\nHost: world.example\r\n\r\n",
]


@pytest.mark.parametrize("ask", SMUGGLED)
def test_what_two_parsers_could_read_differently_is_refused(client, world, ask):
    asked = ask % world.server_port if b"%d" in ask else ask
    assert status(client.ask(asked)) in (400, 403, 411)
    assert world.seen == []


def test_the_world_that_breaks_off_is_seen_as_broken(open_client):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        client = open_client(Egress([f"world.example:{port}"], dialer()))
        client.sock.sendall(get(f"http://world.example:{port}/"))
        sock, _ = listening.accept()
        sock.recv(1 << 16)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        sock.close()
        answer = client.rest()
    assert answer.endswith(b"content-length: 100\r\nConnection: close\r\n\r\nshort")


def test_the_list_of_refused_hosts_is_bounded():
    refusals = Refusals()
    for number in range(1000):
        refusals.add(Place(f"{number}.example", 443), "a setting")
    assert len(refusals.told()) == 201
    assert refusals.told()[-1] == Refused("more hosts", 800, "a list that names them")


def test_the_body_for_a_host_off_the_list_is_not_waited_for(client):
    ask = get("http://evil.example/", "Content-Length: 1000\r\n").replace(b"GET", b"POST")
    assert status(client.ask(ask)) == 403


def test_bodies_wait_for_their_turn_and_fetching_does_not(connect, world, monkeypatch):
    monkeypatch.setattr(egress_module, "BODIES", 1)
    port = world.server_port
    with open_gateway(Egress([f"world.example:{port}"], dialer())) as gateway:
        post = get(f"http://world.example:{port}/", "Content-Length: 1\r\n").replace(
            b"GET", b"POST"
        )
        slow, first, next_, second = (connect(gateway) for _ in range(4))
        slow.sock.sendall(post)
        assert status(first.ask(get(f"http://world.example:{port}/"))) == 200
        next_.sock.sendall(post + b"2")
        assert status(second.ask(get(f"http://world.example:{port}/"))) == 200
        assert status(slow.ask(b"1")) == 200
        assert status(next_.rest()) == 200
    assert [seen[-1:] for seen in world.seen] == ["\n", "\n", "1", "2"]
