"""Private package indexes: what goes out, what comes back, and where links lead then."""

import base64
import json
import ssl
import subprocess
import time

import pytest

from sandbox.gateway.dial import Dialer
from sandbox.gateway.index import Index
from sandbox.gateway.indexes import Indexes
from tests.sandbox.gateway.world import dialer, served

CREDENTIAL = "reader:swordfish-123"
BASIC = base64.b64encode(CREDENTIAL.encode()).decode()


@pytest.fixture
def world():
    with served() as server:
        yield server


@pytest.fixture
def ask(open_client, world):
    """Ask for something of the index `corp`; head and body of the answer."""

    def ask(target, method="GET", more="", credential=CREDENTIAL, names=None):
        url = f"http://world.example:{world.server_port}/repo/simple"
        door = Indexes([Index("corp", url, credential)], dialer(**(names or {})))
        head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:13128\r\nConnection: close\r\n"
        answer = open_client(door).ask(f"{head}{more}\r\n".encode())
        head, _, body = answer.decode().partition("\r\n\r\n")
        return head, body

    return ask


@pytest.mark.parametrize(
    ("credential", "sent"),
    [
        (CREDENTIAL, f"authorization: Basic {BASIC}\n"),
        ("tok-1", "authorization: Bearer tok-1\n"),
        ("", ""),
    ],
)
def test_the_credential_is_added_outside(ask, world, credential, sent):
    more = "X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /admin\r\nForwarded: for=1\r\n"
    more += "Authorization: Basic mine\r\nCookie: a=b\r\nAccept-Encoding: gzip\r\nAccept: x/y\r\n"
    head, _ = ask("/indexes/corp/six/?a=1", more=more, credential=credential)
    assert head.startswith("HTTP/1.1 200")
    host = f"world.example:{world.server_port}"
    assert world.seen == [
        f"GET /repo/simple/six/?a=1\nhost: {host}\naccept-encoding: identity\n"
        f"accept: x/y\n{sent}connection: close\n\n\n"
    ]


def test_n07_an_index_that_echoes_the_credential_tells_nothing(ask, world):
    world.more = [("x-echo", BASIC), ("set-cookie", "session=1")]
    head, body = ask("/indexes/corp/")
    assert "[redacted]" in head
    assert "authorization: Basic [redacted]" in body
    assert not any(secret in head + body for secret in (BASIC, CREDENTIAL, "swordfish", "session"))


LINKS = [
    ("six-1.whl#sha256=ab", "/indexes/corp/six/six-1.whl#sha256=ab"),
    ("../other/x.whl", "/indexes/corp/other/x.whl"),
    ("../../packages/x.whl?a=1", "/origins/corp/repo/packages/x.whl?a=1"),
    ("/files/x.whl", "/origins/corp/files/x.whl"),
    ("http://world.example:{port}/files/x.whl", "/origins/corp/files/x.whl"),
    ("http://WORLD.example:{port}/repo/simple/y", "/indexes/corp/y"),
]


@pytest.mark.parametrize(("link", "inside"), LINKS)
def test_links_lead_through_the_gateway_again(ask, world, link, inside):
    link = link.format(port=world.server_port)
    html = f'<a data-x="1" href="{link}">six</a>'.encode()
    world.pages = {"/repo/simple/six/": ("text/html; charset=utf-8", 200, html)}
    whole = f"http://127.0.0.1:13128{inside}"
    assert ask("/indexes/corp/six/")[1] == f'<a data-x="1" href="{whole}">six</a>'


@pytest.mark.parametrize(("link", "inside"), LINKS[3:])
def test_links_in_json_do_so_too(ask, world, link, inside):
    link = link.format(port=world.server_port)
    listed = json.dumps({"files": [{"url": link, "n": 1}]}).encode()
    world.pages = {"/repo/simple/json": ("application/vnd.pypi.simple.v1+json", 200, listed)}
    turned = {"files": [{"url": f"http://127.0.0.1:13128{inside}", "n": 1}]}
    assert json.loads(ask("/indexes/corp/json")[1]) == turned


@pytest.mark.parametrize("link", ["https://files.example/x.whl", "http://world.example:1/x.whl"])
def test_links_to_other_hosts_stay(ask, world, link):
    world.pages = {"/repo/simple/": ("text/html", 200, f"<a href='{link}'>x</a>".encode())}
    assert ask("/indexes/corp/")[1] == f'<a href="{link}">x</a>'


def test_npms_tarballs_lead_through_the_gateway(ask, world):
    url = f"http://world.example:{world.server_port}/repo/simple/a/-/a-1.tgz"
    page = {"versions": {"1": {"dist": {"tarball": url, "shasum": "s"}}}}
    world.pages = {"/repo/simple/a": ("application/json", 200, json.dumps(page).encode())}
    page["versions"]["1"]["dist"]["tarball"] = "http://127.0.0.1:13128/indexes/corp/a/-/a-1.tgz"
    assert json.loads(ask("/indexes/corp/a")[1]) == page


def test_a_redirect_leads_through_the_gateway(ask, world):
    world.pages = {"/repo/simple/x": ("text/plain", 302, b"")}
    world.more = [("location", "/files/x")]
    assert "location: http://127.0.0.1:13128/origins/corp/files/x" in ask("/indexes/corp/x")[0]


def test_the_root_of_the_host_is_reached_for_files_beside_the_index(ask, world):
    assert ask("/origins/corp/files/x.whl")[0].startswith("HTTP/1.1 200")
    assert world.seen[0].startswith("GET /files/x.whl\n")


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/indexes/other/six/", "GET", "404"),
        ("/indexes/", "GET", "404"),
        ("/indexes/corp/six/", "POST", "405"),
        ("/indexes/corp/six/", "DELETE", "405"),
        ("/indexes/corp/../../admin", "GET", "400"),
        ("/indexes/corp/%2e%2e/admin", "GET", "400"),
        ("/indexes/corp/a%2f..%2fadmin", "GET", "400"),
        ("/indexes/corp/a\\..\\admin", "GET", "400"),
    ],
)
def test_nothing_but_reading_below_the_index(ask, world, target, method, status):
    assert ask(target, method)[0].startswith(f"HTTP/1.1 {status}")
    assert world.seen == []


def test_n06_an_index_that_leads_inwards_is_refused(open_client, world):
    index = Index("corp", f"https://lan.example:{world.server_port}/", CREDENTIAL)
    door = Indexes([index], dialer(lan_example=["127.0.0.1"]))
    answer = open_client(door).ask(b"GET /indexes/corp/ HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"403 Forbidden" in answer
    assert b"--allow-private lan.example" in answer


def test_plain_http_is_for_opened_hosts_alone(open_client, world):
    index = Index("corp", "http://far.example/", CREDENTIAL)
    door = Indexes([index], dialer(far_example=["192.0.2.1"]))
    answer = open_client(door).ask(b"GET /indexes/corp/ HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"is not https" in answer


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Corp", "https://host"),
        ("a/b", "https://host"),
        ("a", "ftp://host"),
        ("a", "https://"),
        ("a", "https://u:p@host/"),
        ("a", "https://host/?token=1"),
        ("a", "simple"),
        ("a", "https://host:99999/"),
        ("a", "https://host:abc/"),
    ],
)
def test_what_is_no_index_is_refused(name, url):
    with pytest.raises(ValueError, match=r"an index|the index|the url|is no host|no port"):
        Index(name, url)


@pytest.fixture
def secure(world, tmp_path, monkeypatch):
    """The world, over TLS, by a certificate that this process trusts for one name."""
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    named = ["-subj", "/CN=world.example", "-addext", "subjectAltName=DNS:world.example"]
    options = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, *named]
    subprocess.run(["openssl", "req", "-x509", *options], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    world.socket = context.wrap_socket(world.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return world


@pytest.mark.parametrize(("name", "status"), [("world.example", 200), ("other.example", 502)])
def test_tls_is_spoken_outside_and_the_name_checked(open_client, secure, name, status):
    url = f"https://{name}:{secure.server_port}/simple/"
    way = Dialer([name], lambda name: ["127.0.0.1"])
    door = Indexes([Index("corp", url, CREDENTIAL)], way)
    answer = open_client(door).ask(
        b"GET /indexes/corp/x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 %d" % status)
    assert [BASIC in seen for seen in secure.seen] == ([True] if status == 200 else [])


@pytest.mark.parametrize("hostile", ["<a ", "<base ", "<a href=", '<a href="'])
def test_a_page_made_to_be_slow_is_turned_at_once(ask, world, hostile):
    page = hostile * 20_000 + "<a href='six/'>six</a>"
    world.pages = {"/repo/simple/": ("text/html", 200, page.encode())}
    begun = time.monotonic()
    assert ask("/indexes/corp/")[1].endswith('/indexes/corp/six/">six</a>')
    assert time.monotonic() - begun < 5  # it were minutes, in which the whole process stood still


def test_a_credential_that_no_header_holds_is_not_quoted_to_the_sandbox(ask, world, monkeypatch):
    monkeypatch.setattr(Index, "__post_init__", lambda index: None)
    head, body = ask("/indexes/corp/", credential="swordfish-123\n")
    assert head.startswith("HTTP/1.1 502")
    assert "swordfish" not in body
    monkeypatch.undo()
    with pytest.raises(ValueError, match="ORCHESTRATOR_INDEX_CORP holds characters"):
        ask("/indexes/corp/", credential="swordfish-123\n")
    assert world.seen == []
