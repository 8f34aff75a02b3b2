"""What a whole run reaches of the world: what its task names, and the rest is told."""

import pytest

from orchestrator.events import EgressRefused, Output, Warned
from tests.sandbox.gateway.world import served

FETCH = "curl -s --noproxy '' --fail http://127.0.0.1:{}/greeting"


@pytest.fixture
def world():
    with served() as server:
        server.pages = {"/greeting": ("text/plain", 200, b"hello\n")}
        yield server


def test_work_and_checks_reach_what_is_allowed_and_the_rest_is_told(desk, world):
    fetch = FETCH.format(world.server_port)
    ran = desk.run(
        f"{fetch} >got.txt; for n in 1 2; do curl -s https://evil.example/?x || true; done",
        allow=(f"127.0.0.1:{world.server_port}",),
        private_hosts=("127.0.0.1",),
        checks=(f"{fetch} | cmp - got.txt",),
    )
    assert ran.record.outcome == "done"
    assert ran.git("show", f"{ran.record.branch}:got.txt") == "hello"
    remedy = '[network] allow = ["evil.example"]'
    assert ran.told(EgressRefused) == [
        EgressRefused(host="evil.example:443", count=2, remedy=remedy, stage="work")
    ]


def test_a_refused_host_is_told_while_the_work_goes_on(desk):
    ask = "curl -s https://{}.example/ || true; sleep 0.6; echo {}; "
    ran = desk.run(
        ask.format("one", "one") + ask.format("one", "again") + ask.format("two", "two"),
        allow=("pypi",),
    )
    told = [each.text for each in ran.events if isinstance(each, Output | Warned)]
    one, two = (f"{name}.example:443 was asked for and refused." for name in ("one", "two"))
    assert sorted(told) == sorted(["one", "again", "two", one, two])
    assert told.index(one) < told.index("two")


def test_by_default_nothing_is_reached(desk, world):
    ran = desk.run(f"{FETCH.format(world.server_port)} || env >got.txt")
    assert "PROXY" not in ran.git("show", f"{ran.record.branch}:got.txt")
    assert (world.seen, ran.told(EgressRefused)) == ([], [])


def test_what_setup_was_refused_is_told_when_it_fails(desk):
    ran = desk.run("true", setup=("curl -s --fail https://evil.example/",), setup_network=True)
    assert ran.record.outcome == "worker_error"
    assert [(event.host, event.stage) for event in ran.told(EgressRefused)] == [
        ("evil.example:443", "setup")
    ]
