import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from orchestrator.clone import Address, address
from orchestrator.errors import RepositoryError
from orchestrator.repository import Repository
from tests.exchange import commit, git, start

SECRET = "joe:s3cret"


@contextmanager
def served(root: Path, secret: str = "", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """git's own HTTP server over a folder of repositories, on this machine only."""
    wanted = "Basic " + base64.b64encode(secret.encode()).decode()

    class Backend(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # a connection that is closed early is an error to TLS

        def do_GET(self):
            if secret and self.headers["Authorization"] != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            length = int(self.headers["Content-Length"] or 0)
            env = {
                **{"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(root)},
                **{"GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query},
                **{"REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(length)},
                "CONTENT_TYPE": self.headers["Content-Type"] or "",
            }
            done = subprocess.run(
                ["git", "http-backend"], env=env, input=self.rfile.read(length), capture_output=True
            )
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            self.send_response(404 if b"Status: 404" in head else 200)
            for line in head.decode().splitlines():
                self.send_header(*line.split(": ", 1))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        if tls:
            server.socket = tls.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def stored_anywhere(text: str, folder: Path) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return start(tmp_path / "srv/user", {"a": b"one\n"})


def test_a_remote_repository_is_fetched_and_fetched_again(user: Path, tmp_path: Path):
    with served(user.parent) as host:
        url = f"http://{host}/user"
        found = Repository.open(url, tmp_path / "home")
        assert (found.name, found.current_branch()) == (url, "main")
        last = commit(user, {"a": b"two\n"})
        assert Repository.open(url, tmp_path / "home").resolve("main").commit == last
    assert len(list((tmp_path / "home/clones").glob("*.git"))) == 1


def test_the_remote_s_default_branch_is_head(user: Path, tmp_path: Path):
    git(user, "checkout", "--quiet", "-b", "trunk")
    with served(user.parent) as host:
        found = Repository.open(f"http://{host}/user", tmp_path / "home")
    assert found.current_branch() == "trunk"


def test_what_was_published_here_survives_the_next_fetch(user: Path, tmp_path: Path):
    git(user, "branch", "gone")
    with served(user.parent) as host:
        url = f"http://{host}/user"
        first = Repository.open(url, tmp_path / "home")
        first.create_branch("agent/x", first.resolve("HEAD").commit)
        git(user, "branch", "-D", "gone")
        names = Repository.open(url, tmp_path / "home").references()
    assert sorted(names) == ["agent/x", "main"]


def test_a_password_opens_and_is_stored_nowhere(user: Path, tmp_path: Path):
    with served(user.parent, SECRET) as host:
        found = Repository.open(f"http://{SECRET}@{host}/user", tmp_path / "home")
    assert found.name == f"http://{host}/user"
    assert not stored_anywhere("s3cret", tmp_path / "home")


def test_a_wrong_password_is_told_without_it(user: Path, tmp_path: Path):
    with served(user.parent, SECRET) as host, pytest.raises(RepositoryError) as caught:
        Repository.open(f"http://joe:wr0ng@{host}/user", tmp_path / "home")
    message = str(caught.value)
    assert message.startswith(f"http://{host}/user cannot be fetched, check the address and your")
    assert "wr0ng" not in message


@pytest.fixture
def authority() -> trustme.CA:
    """A company's own certificate authority, which no other machine knows."""
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def test_https_trusts_the_authority_that_the_caller_names(user, tls, authority, tmp_path):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with served(user.parent, tls=tls) as host:
        environ = {"GIT_SSL_CAINFO": str(tmp_path / "ca.pem")}
        found = Repository.open(f"https://{host}/user", tmp_path / "home", environ)
    assert (found.name, found.current_branch()) == (f"https://{host}/user", "main")


def test_https_with_an_unknown_authority_is_told(user, tls, tmp_path):
    with served(user.parent, tls=tls) as host, pytest.raises(RepositoryError, match="certificate"):
        Repository.open(f"https://{host}/user", tmp_path / "home")


def test_a_missing_remote_is_told(user: Path, tmp_path: Path):
    with served(user.parent) as host, pytest.raises(RepositoryError, match="cannot be fetched"):
        Repository.open(f"http://{host}/none", tmp_path / "home")


def test_an_empty_remote_is_told(tmp_path: Path):
    git(tmp_path, "init", "--quiet", "--bare", "empty")
    with served(tmp_path) as host, pytest.raises(RepositoryError, match="has no commit yet"):
        Repository.open(f"http://{host}/empty", tmp_path / "home")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("https://h.org/a/b.git", Address("https://h.org/a/b.git", "https")),
        ("https://u:p@h.org:8/a", Address("https://h.org:8/a", "https", "u:p")),
        ("ssh://git:pw@h.org/a", Address("ssh://git@h.org/a", "ssh")),
        ("git@h.org:a/b.git", Address("git@h.org:a/b.git", "ssh")),
        ("http://localhost:1/a", Address("http://localhost:1/a", "http")),
        ("http://[::1]/a", Address("http://[::1]/a", "http")),
        *((path, None) for path in (".", "/a", "a/b", "file:///a", "host:path", "a@b/c")),
    ],
)
def test_addresses_and_paths_are_told_apart(where: str, expected: Address | None):
    assert address(where) == expected


@pytest.mark.parametrize(
    "where", ["ext::sh -c id", "http://h.org/a", "git://h.org/a", "ftp://h.org/a", "fd::7"]
)
def test_other_kinds_of_address_are_refused(where: str):
    with pytest.raises(RepositoryError, match="addresses are not supported: give a local path"):
        address(where)
