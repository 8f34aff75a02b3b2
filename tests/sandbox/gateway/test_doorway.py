"""Doors that are there for a while."""

import pytest

from sandbox.gateway.doorway import Doorway
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.mcp import Mcp, Offer
from tests.sandbox.gateway.test_mcp import HEADERS, SCHEMA, TOKEN, Caller, call, echo

OTHER = {**HEADERS, "authorization": "Bearer run-token-of-another"}


def tools(token=TOKEN):
    return Mcp("tools", token, [Offer("echo", "Says it.", SCHEMA, echo)])


@pytest.fixture
def doorway():
    return Doorway()


@pytest.fixture
def caller(connect, doorway):
    with open_gateway(doorway) as gateway:
        yield Caller(connect, gateway)
        assert gateway.faults == []


def test_there_is_a_way_out_only_while_a_door_stands_in_it(caller, doorway):
    assert caller.status(call()) == 403
    with doorway.put([tools()]):
        assert caller.status(call()) == 200
    assert caller.status(call()) == 403


def test_the_token_of_a_door_that_is_gone_opens_no_other(caller, doorway):
    with doorway.put([tools()]):
        assert caller.status(call()) == 200
    with doorway.put([tools("run-token-of-another")]):
        assert (caller.status(call()), caller.status(call(), headers=OTHER)) == (401, 200)


def test_all_that_ever_stood_in_it_is_closed_with_the_gateway(connect, doorway):
    class Seen(Mcp):
        async def close(self):
            closed.append(self)

    closed = []
    doors = [Seen("tools", TOKEN, []) for _ in range(2)]
    with open_gateway(doorway):
        for door in doors:
            with doorway.put([door]):
                assert closed == []
    assert closed == doors
